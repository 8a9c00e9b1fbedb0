// The provider, or the way to it, fails during a refresh. The user must stay signed in.
import { setTimeout as wait } from "node:timers/promises";
import { tally } from "../outcomes.mjs";

async function during(stage, browser, begin, { requests = 3, pause = 300 } = {}) {
  const counts = stage.counted();
  const end = await begin(stage.provider);
  const outcomes = [];
  try {
    for (let number = 0; number < requests; number += 1) {
      if (number > 0) await wait(pause);
      outcomes.push(await stage.orders(browser));
    }
  } finally {
    end();
    stage.provider.clearFaults();
  }
  const refreshes = [counts().refreshes];
  const after = await stage.afterwards(browser);
  const succeeded = outcomes.filter((outcome) => outcome === "200").length;
  return {
    requests: tally(outcomes),
    refreshes,
    after: after.text,
    succeeded,
    seconds: after.seconds,
    isGood: after.isSignedIn,
  };
}

const WRONG_SECRET_REQUESTS = 10;

export const outages = [
  {
    key: "error-503",
    title: "The token endpoint responds with 503 during a refresh",
    run: (stage, [browser]) =>
      during(stage, browser, (provider) =>
        provider.fault("token", { kind: "status", status: 503 }),
      ),
  },
  {
    key: "timeout",
    title: "The token endpoint doesn't respond during a refresh",
    run: (stage, [browser]) =>
      during(stage, browser, (provider) => provider.fault("token", { kind: "hang" }), {
        requests: 1,
      }),
  },
  {
    key: "wrong-secret",
    title: `The client secret is wrong for ${WRONG_SECRET_REQUESTS} requests, one each second`,
    run: (stage, [browser]) =>
      during(
        stage,
        browser,
        ({ settings }) => {
          const { clientSecret } = settings;
          settings.clientSecret = "another secret";
          return () => void (settings.clientSecret = clientSecret);
        },
        { requests: WRONG_SECRET_REQUESTS, pause: 1_000 },
      ),
  },
];

/** It replaces the provider's keys, which products notice at different times. */
export const noKeys = {
  key: "no-keys",
  title: "The provider signs with a new key during a refresh, and its keys can't be fetched",
  note: "A product that responds with 200 here uses the new access token although the new ID token couldn't be verified. OpenID Connect allows that if the token endpoint is reached over TLS (Core section 3.1.3.7). idpauth verifies the ID token first.",
  run: (stage, [browser]) =>
    during(stage, browser, async (provider) => {
      await provider.rotateKeys({ keepOld: false });
      return provider.fault("jwks", { kind: "status", status: 503 });
    }),
};
