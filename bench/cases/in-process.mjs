// The small costs on every request, as processor time without sockets: the guard of a signed-in
// request (memory store), and the mounted component for an unguarded route. Batches alternate; each
// difference is of two neighbouring batches.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";

/**
 * The frameworks, each with the goal of its guard in µs. Express changes the prototypes of
 * requests, which makes each access to them slower.
 */
const HOSTS = {
  node: { name: "node:http", guard: 4.5 },
  express: { name: "Express 5", guard: 10 },
  fastify: { name: "Fastify 5", guard: 4 },
  koa: { name: "Koa 3", guard: 5.5 },
  hono: { name: "Hono 4", guard: 10 },
  fetch: { name: "fetch-style", guard: 7.5 },
};
const KINDS = ["bare", "open", "guarded"];

/** Mean and 95 % confidence interval of a mean. */
function interval(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance =
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const half = 1.96 * Math.sqrt(variance / values.length);
  return { mean, low: mean - half, high: mean + half };
}

export async function inProcess({
  settings: { inProcessBatches: batches, inProcessCalls: calls },
}) {
  const rows = [];
  const values = {};
  for (const [host, { name, guard }] of Object.entries(HOSTS)) {
    const child = await startChild("in-process.mjs", { host });
    try {
      const measured = { bare: [], open: [], guarded: [] };
      for (const kind of KINDS) await child.call("batch", { kind, calls });
      for (let batch = 0; batch < batches; batch += 1) {
        // A rotating order, so that no kind is always measured after the same one.
        for (let at = 0; at < KINDS.length; at += 1) {
          const kind = KINDS[(batch + at) % KINDS.length];
          measured[kind].push(await child.call("batch", { kind, calls }));
        }
      }
      values[host] = measured;
      const difference = (kind, from) =>
        interval(measured[kind].map((value, index) => value - measured[from][index]));
      const row = (what, { mean, low, high }, atMost) =>
        numberRow(`${name}: ${what}`, mean / 1000, { atMost }, "", {
          unit: "µs",
          spread: [low / 1000, high / 1000],
        });
      rows.push(row("a guard, signed-in user, in process", difference("guarded", "open"), guard));
      rows.push(
        row(
          "a route without a guard, with the component mounted, in process",
          difference("open", "bare"),
          1,
        ),
      );
    } finally {
      child.stop();
    }
  }
  return { rows, values };
}
