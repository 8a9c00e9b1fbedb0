// What a proof costs a call to an API, as processor time without sockets: `fetchApi` with a token
// that is bound to the session's key (DPoP), and with a bearer token. Batches alternate; the
// difference is of two neighbouring batches.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";

const KINDS = ["bearer", "bound"];
/** Each call costs a signature, so there are fewer than of calls without one. */
const CALLS = 1_000;

export async function boundCalls({ settings: { inProcessBatches: batches } }) {
  const child = await startChild("bound-calls.mjs", {});
  try {
    const measured = { bearer: [], bound: [] };
    for (const kind of KINDS) await child.call("batch", { kind, calls: CALLS });
    for (let batch = 0; batch < batches; batch += 1)
      for (const kind of batch % 2 === 0 ? KINDS : KINDS.toReversed())
        measured[kind].push((await child.call("batch", { kind, calls: CALLS })) / 1e6);
    const proofs = measured.bound.map((value, index) => value - measured.bearer[index]);
    const row = (name, values, goal) => {
      const sorted = values.toSorted((one, other) => one - other);
      const spread = [sorted[0], sorted.at(-1)];
      const median = sorted[Math.floor(sorted.length / 2)];
      return numberRow(name, median, goal, "", { unit: "ms", spread });
    };
    return {
      rows: [
        row("`fetchApi` with a bearer token, in process", measured.bearer),
        row("`fetchApi` with a bound token, in process", measured.bound, { atMost: 0.4 }),
        row("the proof alone", proofs),
      ],
      values: measured,
    };
  } finally {
    child.stop();
  }
}
