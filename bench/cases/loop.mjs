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
      numberRow(`SQLite: longest pause of the event loop ${what}`, value, { atMost: 20 }, "", {
        unit: "ms",
      });
    return {
      measured,
      rows: [
        row(`during ${settings.loopMilliseconds / 1000} s of idle stamps`, measured.stamps),
        row(`during ${settings.loopMilliseconds / 1000} s of durable writes`, measured.writes),
        row(
          `while ${settings.sweptEntries.toLocaleString("en-US")} expired records are deleted`,
          measured.sweep,
        ),
      ],
    };
  } finally {
    child.stop();
  }
}
