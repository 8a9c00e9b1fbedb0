/** One line of the table: a scenario on a store, and what it amounted to. */
export interface Row {
  readonly scenario: string;
  readonly store: string;
  readonly requests: number;
  /** Refreshes that reached the provider. */
  readonly refreshes: number;
  /** Answers that said signed in. */
  readonly signedIn: number;
  readonly milliseconds: number;
  readonly passed: boolean;
}

const HEADINGS = [
  "scenario",
  "store",
  "requests",
  "token requests",
  "signed-in answers",
  "seconds",
  "",
] as const;

/** The table of a run, as text. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ scenario, store, requests, refreshes, signedIn, milliseconds, passed }) => [
      scenario,
      store,
      String(requests),
      String(refreshes),
      String(signedIn),
      (milliseconds / 1000).toFixed(1),
      passed ? "passed" : "FAILED",
    ],
  );
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...lines.map((line) => line[column]!.length)),
  );
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column < 2 || column > 5 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  return [HEADINGS, widths.map((width) => "-".repeat(width)), ...lines].map(format).join("\n");
}
