// Very many sessions that expire in the same second and are requested at once: their results, and
// those of another user.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { clientOf, signIn } from "../sign-in.mjs";
import { place } from "./stores.mjs";

const CONNECTIONS = 2_000;
const SIGN_INS_AT_A_TIME = 20;

export async function storm(context) {
  const { load, provider, settings } = context;
  const count = settings.stormSessions;
  const server = await place("redis", context);
  const application = await startChild("store-server.mjs", {
    kind: "redis",
    url: server.url,
    provider: clientOf(provider),
  });
  const { idTokenSeconds } = provider.settings;
  try {
    const port = await application.call("port");
    const origin = `http://127.0.0.1:${port}`;
    provider.settings.idTokenSeconds = 86_400;
    const bystander = await signIn(origin, provider);
    // Each session has its own refresh token, so these are real sign-ins, not copies.
    provider.settings.idTokenSeconds = 3_600;
    const cookies = [];
    while (cookies.length < count) {
      const some = Math.min(SIGN_INS_AT_A_TIME, count - cookies.length);
      cookies.push(
        ...(await Promise.all(Array.from({ length: some }, () => signIn(origin, provider)))),
      );
    }
    provider.settings.idTokenSeconds = 86_400;
    // The application's clock moves forward by an hour, so that all of them have expired.
    await application.call("advance", { seconds: 3_700 });
    provider.requests.length = 0;
    const outcome = await load.call("storm", {
      port,
      path: "/idpauth/session",
      cookies,
      bystander,
      connections: CONNECTIONS,
    });
    const tokenRequests = provider.requestsTo("token").length;
    const number = (value) => value.toLocaleString("en-US");
    const note =
      `${number(CONNECTIONS)} connections; ${number(outcome.unavailable)} responses of 503, repeated after Retry-After; ` +
      `${(outcome.elapsed / 1000).toFixed(1)} s in all; token requests ${number(tokenRequests)}; reuses ${provider.reuses}`;
    return {
      values: { ...outcome, tokenRequests },
      rows: [
        numberRow(
          `${number(count)} sessions that expire at once: refreshed`,
          outcome.refreshed,
          { atLeast: count },
          note,
        ),
        numberRow(
          `${number(count)} sessions that expire at once: users signed out`,
          outcome.signedOut,
          { atMost: 0 },
        ),
        numberRow(
          `${number(count)} sessions that expire at once: meanwhile, the probe of another user, p99`,
          outcome.p99,
          { atMost: 100 },
          `p50 ${outcome.p50.toFixed(1)} ms, slowest ${outcome.slowest.toFixed(0)} ms, ${number(outcome.bystanderResponses)} responses`,
          { unit: "ms" },
        ),
      ],
    };
  } finally {
    provider.settings.idTokenSeconds = idTokenSeconds;
    application.stop();
    await server.stop();
  }
}
