import type { StoreResult } from "./check-requirement.js";
import type { StoreReport } from "./check-store.js";

const MARKS = { holds: "holds      ", broken: "BROKEN     ", open: "not checked" } as const;
const VERDICTS = { true: "given      ", false: "NOT GIVEN  ", undefined: "not checked" } as const;

/**
 * The report as text for people: what was checked, method by method; for each guarantee and each
 * other promise whether it is given, and if not, the requirements that are broken; and what was
 * seen of each of those. Ends with a line break.
 */
export function formatStoreReport(report: StoreReport): string {
  const { name, results, guarantees, properties } = report;
  const count = (isCounted: (result: StoreResult) => boolean) => results.filter(isCounted).length;
  const broken = results.filter(({ error }) => error !== undefined);
  const head = `The ${name} store: of ${results.length} requirements ${count(({ passed }) => passed)} hold, ${broken.length} are broken, ${count(isOpen)} were not checked.`;
  return [
    head,
    ...methodsOf(results).flatMap((method) => ["", ...section(method, results)]),
    "",
    "The seven guarantees",
    ...guarantees.flatMap(({ number, title, given }) => [
      `  ${VERDICTS[`${given}`]}  ${number}. ${title}`,
      ...reasons(
        given,
        results.filter((result) => result.guarantees.includes(number)),
      ),
    ]),
    "",
    "Also promised",
    ...properties.flatMap(({ name: other, title, given }) => [
      `  ${VERDICTS[`${given}`]}  ${other}: ${title}`,
      ...reasons(
        given,
        results.filter((result) => result.properties.includes(other)),
      ),
    ]),
    ...(broken.length === 0 ? [] : ["", "What was seen"]),
    ...broken.flatMap(({ error }) =>
      error === undefined
        ? []
        : error.message.split("\n").map((text, row) => (row === 0 ? `- ${text}` : `  ${text}`)),
    ),
    "",
  ].join("\n");
}

/**
 * A method's requirements. Why they were not checked is said once, where it is the same for all of
 * them.
 */
function section(method: string, results: readonly StoreResult[]): string[] {
  const own = results.filter((result) => result.method === method);
  const shared =
    new Set(own.map(({ notChecked }) => notChecked)).size === 1 ? own[0]?.notChecked : undefined;
  return [
    shared === undefined ? method : `${method} (${shared})`,
    ...own.map((result) => {
      const mark = result.passed ? MARKS.holds : isOpen(result) ? MARKS.open : MARKS.broken;
      const why =
        shared === undefined && result.notChecked !== undefined ? ` (${result.notChecked})` : "";
      return `  ${mark}  ${result.title}${why}`;
    }),
  ];
}

/** Under a verdict: the requirements that are broken, or else why some could not be checked. */
function reasons(given: boolean | undefined, concerned: readonly StoreResult[]): string[] {
  if (given === true) return [];
  const broken = concerned
    .filter(({ error }) => error !== undefined)
    .map(({ method, title }) => `${method}: ${title}`);
  const open = concerned.flatMap(({ notChecked }) => notChecked ?? []);
  return (given === false ? broken : [...new Set(open)]).map((text) => `               - ${text}`);
}

function isOpen({ notChecked }: StoreResult): boolean {
  return notChecked !== undefined;
}

/** In the order of the table. */
function methodsOf(results: readonly StoreResult[]): string[] {
  return [...new Set(results.map(({ method }) => method))];
}
