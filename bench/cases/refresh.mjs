// Many requests at once on one expired session, at a provider that rotates refresh tokens and
// detects their reuse.
import { startChild } from "../children.mjs";
import { median } from "../rounds.mjs";
import { numberRow } from "../report.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

const REQUESTS = 200;
const ROUNDS = 5;

export async function refresh({ load, provider }) {
  const server = await startChild("server.mjs", { kind: "idpauth", provider: clientOf(provider) });
  const { idTokenSeconds } = provider.settings;
  try {
    const port = await server.call("port");
    const tokenRequests = [];
    const failures = [];
    const elapsed = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      provider.settings.idTokenSeconds = 1;
      const cookie = await signIn(`http://127.0.0.1:${port}`, provider);
      provider.settings.idTokenSeconds = 3600;
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      provider.requests.length = 0;
      const burst = await load.call("burst", {
        port,
        path: "/idpauth/session",
        cookie,
        count: REQUESTS,
      });
      if (burst.failures > 0) console.error(burst.sample);
      tokenRequests.push(provider.requestsTo("token").length);
      failures.push(burst.failures);
      elapsed.push(burst.elapsed);
    }
    const note = `${ROUNDS} rounds; all responses after ${median(elapsed).toFixed(0)} ms; families revoked for reuse: ${provider.reuses}`;
    return {
      values: { tokenRequests, failures, elapsed, reuses: provider.reuses },
      rows: [
        numberRow(
          `${REQUESTS} concurrent requests on one expired session: token requests`,
          Math.max(...tokenRequests),
          { atMost: 1 },
          note,
          { spread: extent(tokenRequests) },
        ),
        numberRow(
          `${REQUESTS} concurrent requests on one expired session: failures`,
          Math.max(...failures),
          { atMost: 0 },
          "",
          { spread: extent(failures) },
        ),
      ],
    };
  } finally {
    provider.settings.idTokenSeconds = idTokenSeconds;
    server.stop();
  }
}

function extent(values) {
  return [Math.min(...values), Math.max(...values)];
}
