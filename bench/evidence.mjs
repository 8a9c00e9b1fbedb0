// Keeps what was measured in docs/evidence/performance.json, by the case.
import path from "node:path";
import { runNow } from "../scripts/evidence/commits.mjs";
import { keepEvidence, readEvidence } from "../scripts/evidence/files.mjs";

/**
 * Replaces the cases that were measured. Their titles stay.
 *
 * @param cases by their names, each with its rows
 * @param run what it was measured on, the arguments of the command, and the other build
 */
export async function keepCases(cases, { on, args, against }) {
  const before = readEvidence("performance");
  const other = against === undefined ? undefined : path.basename(against);
  const shown = args
    .filter((each) => each !== "--write")
    .map((each) => (each.startsWith("--against=") ? `--against=${other}` : each));
  const { date, commit, command } = runNow(["npm run bench --", ...shown].join(" "));
  const measured = Object.entries(cases).map(([name, { rows }]) => {
    const key = other === undefined ? name : `${name}, against ${other}`;
    const { title = key } = before[key] ?? {};
    const head = { title, command, date, commit, ...(other !== undefined && { against: other }) };
    return [key, { ...head, on, rows: rows.map(kept) }];
  });
  await keepEvidence("performance", { ...before, ...Object.fromEntries(measured) });
}

/** Without what a row hasn't got. */
function kept(row) {
  const filled = Object.entries(row).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(filled);
}
