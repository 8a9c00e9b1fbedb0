// How long SQLite stops the event loop; it works inside the process.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";

export async function loop({ settings }) {
  const child = await startChild("sqlite-loop.mjs");
  try {
    const measured = await child.call("measure", {
      entries: settings.sweptEntries,
      milliseconds: settings.loopMilliseconds,
    });
    const row = (what, value) =>
      numberRow(`SQLite: the longest stop of the event loop, ms: ${what}`, value, { atMost: 20 });
    return {
      measured,
      rows: [
        row(`${settings.loopMilliseconds / 1000} s of stamps`, measured.stamps),
        row(`${settings.loopMilliseconds / 1000} s of durable writes`, measured.writes),
        row(
          `the sweep of ${settings.sweptEntries.toLocaleString("en-US")} expired entries`,
          measured.sweep,
        ),
      ],
    };
  } finally {
    child.stop();
  }
}
