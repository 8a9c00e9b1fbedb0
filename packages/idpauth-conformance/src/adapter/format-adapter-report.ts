import type { AdapterReport } from "./check-adapter.js";
import type { AdapterResult } from "./check-requirement.js";

const MARKS = { holds: "holds      ", broken: "BROKEN     ", open: "not checked" } as const;
const CELLS = { holds: "yes", broken: "**no**", open: "n/a" } as const;

/** Returns the report as text: the results by area, then the failures. Ends with a line break. */
export function formatAdapterReport({ name, session, results }: AdapterReport): string {
  const count = (state: keyof typeof MARKS) =>
    results.filter((result) => stateOf(result) === state).length;
  const head = `${name} with ${sessions(session)}: of ${results.length} requirements ${count("holds")} hold, ${count("broken")} are broken, ${count("open")} were not checked.`;
  const errors = results.flatMap(({ error }) => error ?? []);
  return [
    head,
    ...unique(results.map(({ area }) => area)).flatMap((area) => ["", ...section(area, results)]),
    ...(errors.length === 0 ? [] : ["", "What was seen"]),
    ...errors.flatMap(({ message }) =>
      message.split("\n").map((text, row) => (row === 0 ? `- ${text}` : `  ${text}`)),
    ),
    "",
  ].join("\n");
}

function section(area: string, results: readonly AdapterResult[]): string[] {
  return [
    area,
    ...results
      .filter((result) => result.area === area)
      .map(
        (result) =>
          `  ${MARKS[stateOf(result)]}  ${result.title}${result.notChecked === undefined ? "" : ` (${result.notChecked})`}`,
      ),
  ];
}

/**
 * Returns a Markdown table with a row for each requirement and a column for each report. The
 * reasons for `n/a` are below the table; an empty cell is a requirement of the other kind of
 * sessions. Ends with a line break.
 */
export function formatAdapterTable(reports: readonly AdapterReport[]): string {
  const titles = reports.map(({ name, session }) =>
    session === "host" ? `${name}, its own sessions` : name,
  );
  const columns = reports.map(
    ({ results }) => new Map(results.map((result) => [nameOf(result), result])),
  );
  const rows = unique(reports.flatMap(({ results }) => results.map(nameOf)));
  const reasons = reports.flatMap(({ results }, index) =>
    unique(results.flatMap(({ notChecked }) => notChecked ?? [])).map(
      (why) => `- n/a, ${titles[index] ?? ""}: ${why}`,
    ),
  );
  return [
    line(["Requirement", ...titles]),
    line(["---", ...titles.map(() => ":-:")]),
    ...grouped(rows, reports).map((row) => {
      const cells = columns
        .map((column) => column.get(row))
        .map((result) => (result === undefined ? "" : CELLS[stateOf(result)]));
      return line([row, ...cells]);
    }),
    line([
      "**Checks passed**",
      ...reports.map(
        ({ results }) => `${results.filter(({ passed }) => passed).length} of ${results.length}`,
      ),
    ]),
    ...(reasons.length === 0 ? [] : ["", ...reasons]),
    "",
  ].join("\n");
}

/**
 * Returns the rows by area, so that requirements of one kind of sessions are next to the others of
 * their area.
 */
function grouped(rows: readonly string[], reports: readonly AdapterReport[]): string[] {
  const areas = unique(reports.flatMap(({ results }) => results.map(({ area }) => area)));
  return areas.flatMap((area) => rows.filter((row) => row.startsWith(`${area}: `)));
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function nameOf({ area, title }: AdapterResult): string {
  return `${area}: ${title}`;
}

function stateOf({ passed, error }: AdapterResult): keyof typeof MARKS {
  if (passed) return "holds";
  return error === undefined ? "open" : "broken";
}

function sessions(kind: AdapterReport["session"]): string {
  return kind === "host" ? "its own sessions" : "bundled sessions";
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
