import type { StoreResult } from "./check-obligation.js";
import type { StoreReport } from "./check-store.js";

const MARKS = { holds: "holds      ", broken: "BROKEN     ", open: "not checked" } as const;
const VERDICTS = { true: "given      ", false: "NOT GIVEN  ", undefined: "not checked" } as const;

/**
 * The report as text for people: what was checked, method by method; for each guarantee and each other promise whether it is
 * given, and if not, the obligations that are broken; and what was seen of each of those. Ends with a line break.
 */
export function formatStoreReport(report: StoreReport): string {
  const { name, results, guarantees, others } = report;
  const count = (isCounted: (result: StoreResult) => boolean) => results.filter(isCounted).length;
  const broken = results.filter(({ error }) => error !== undefined);
  const head = `The ${name} store: of ${results.length} obligations ${count(({ passed }) => passed)} hold, ${broken.length} are broken, ${count(isOpen)} were not checked.`;
  return [
    head,
    ...methodsOf(results).flatMap((method) => ["", method, ...results.filter((result) => result.method === method).map(line)]),
    "",
    "The seven guarantees",
    ...guarantees.flatMap(({ number, title, given }) => [
      `  ${VERDICTS[`${given}`]}  ${number}. ${title}`,
      ...reasons(results.filter((result) => result.guarantees.includes(number))),
    ]),
    "",
    "Also promised",
    ...others.flatMap(({ name: other, title, given }) => [
      `  ${VERDICTS[`${given}`]}  ${other}: ${title}`,
      ...reasons(results.filter((result) => result.others.includes(other))),
    ]),
    ...(broken.length === 0 ? [] : ["", "What was seen"]),
    ...broken.flatMap(({ error }) =>
      error === undefined ? [] : error.message.split("\n").map((text, row) => (row === 0 ? `- ${text}` : `  ${text}`)),
    ),
    "",
  ].join("\n");
}

function line(result: StoreResult): string {
  const mark = result.passed ? MARKS.holds : isOpen(result) ? MARKS.open : MARKS.broken;
  return `  ${mark}  ${result.promise}${isOpen(result) ? ` (${result.notChecked ?? ""})` : ""}`;
}

function reasons(concerned: readonly StoreResult[]): string[] {
  return concerned.filter(({ error }) => error !== undefined).map(({ method, promise }) => `                 ${method}: ${promise}`);
}

function isOpen({ notChecked }: StoreResult): boolean {
  return notChecked !== undefined;
}

/** In the order of the table. */
function methodsOf(results: readonly StoreResult[]): string[] {
  return [...new Set(results.map(({ method }) => method))];
}
