// Why a probe over PostgreSQL costs more than a bare read of the same record: what each step from
// one to the other adds.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { interleave, median } from "../rounds.mjs";

/** As long as a record with an ID token and two other tokens. */
const RECORD_BYTES = 865;

export async function postgresReads({ startPostgres, settings }) {
  const server = await startPostgres();
  const child = await startChild("postgres-reads.mjs", {
    url: server.url,
    records: settings.readRecords,
    recordBytes: RECORD_BYTES,
  });
  try {
    console.error(await child.call("plan"));
    const variants = await child.call("variants");
    const values = await interleave(
      Object.fromEntries(
        variants.map((variant) => [
          variant,
          () => child.call("reads", { variant, count: settings.reads }),
        ]),
      ),
      settings.rounds,
    );
    const micro = (variant, field) => median(values[variant].map((each) => each[field])).toFixed(0);
    const rows = variants.map((variant) =>
      numberRow(
        `PostgreSQL, ten reads at a time: ${variant}, elapsed for each read`,
        Number(micro(variant, "elapsed")),
        undefined,
        `${micro(variant, "client")} µs of processor time in Node.js, ${micro(variant, "server")} µs in PostgreSQL`,
        { unit: "µs" },
      ),
    );
    return { rows, values };
  } finally {
    child.stop();
    await server.stop();
  }
}
