// The probe with few, many and very many sessions in the memory store, with users spread over all
// of them; and the bytes of a session.
//
// A bare route of the same processes is measured beside it. Express gives each request another
// prototype. What V8 allocates for it survives young garbage collections in a process with a large
// heap, so every route slows down there. Only the comparison with the bare route shows what the
// store adds.
import { startChild } from "../children.mjs";
import { inWords, median, ratio, throughput } from "../rounds.mjs";
import { numberRow, ratioRow } from "../report.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

/** Users in a round: enough that no processor cache holds their sessions. */
const USERS = 20_000;

export async function sessions({ load, provider, settings }) {
  const servers = [];
  try {
    const targets = [];
    const filled = {};
    for (const count of settings.sessionCounts) {
      const server = await startChild("server.mjs", {
        kind: "idpauth",
        provider: clientOf(provider),
        maxSessions: count + 10,
      });
      servers.push(server);
      const port = await server.call("port");
      await signIn(`http://127.0.0.1:${port}`, provider);
      const { cookies, ...cost } = await server.call("fill", {
        count,
        cookies: Math.min(count, USERS),
      });
      const name = count.toLocaleString("en-US");
      filled[name] = cost;
      targets.push({ name, server, port, path: "/idpauth/session", cookies: shuffled(cookies) });
      targets.push({ name: `${name}, bare`, server, port, path: "/open" });
    }
    const measured = await throughput(load, targets, settings);
    const { values, cpu } = measured;
    const names = Object.keys(filled);
    const byMedian = [...names].sort((one, other) => median(values[one]) - median(values[other]));
    const [slowest, fastest] = [byMedian[0], byMedian.at(-1)];
    const largest = names.at(-1);
    const { memoryPerSession, jsonPerSession, slowestInsert } = filled[largest];
    return {
      values,
      cpu,
      filled,
      rows: [
        ratioRow(
          `Memory: the probe with ${names.join(", ")} sessions, slowest / fastest`,
          ratio(values[slowest], values[fastest]),
          { atLeast: 0.85 },
          `slowest: ${slowest}, fastest: ${fastest}; ${inWords(measured, slowest, fastest)}`,
        ),
        ratioRow(
          `Memory: a bare route of the same processes, with ${largest} / with ${names[0]} sessions`,
          ratio(values[`${largest}, bare`], values[`${names[0]}, bare`]),
          undefined,
          inWords(measured, `${largest}, bare`, `${names[0]}, bare`),
        ),
        ...names.map((name) =>
          ratioRow(
            `Memory: the probe / that bare route, with ${name} sessions`,
            ratio(values[name], values[`${name}, bare`]),
            undefined,
            inWords(measured, name, `${name}, bare`),
          ),
        ),
        numberRow(
          `Memory: bytes for each session in addition to its record's JSON, with ${largest} sessions`,
          memoryPerSession - jsonPerSession,
          { atMost: 1024 },
          `${Math.round(memoryPerSession)} bytes in all, ${Math.round(jsonPerSession)} of them JSON; slowest insert ${slowestInsert.toFixed(0)} ms`,
          { unit: "bytes" },
        ),
      ],
    };
  } finally {
    for (const server of servers) server.stop();
  }
}

/** Users come in a random order that is the same in each run. */
function shuffled(cookies) {
  let seed = 1;
  for (let last = cookies.length - 1; last > 0; last -= 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (last + 1);
    [cookies[last], cookies[other]] = [cookies[other], cookies[last]];
  }
  return cookies;
}
