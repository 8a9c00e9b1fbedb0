// The table of adapters for a page: a requirement is one row with the setups that meet it, because a
// column for each of them fits no screen.

/**
 * @param {string} table what `formatAdapterTable` writes: requirements by setups, the sums in the
 *   last row, and the reasons of what doesn't apply
 * @returns {string}
 */
export function narrowTable(table) {
  const lines = table.split("\n");
  const [head = [], , ...rows] = lines.filter((line) => line.startsWith("|")).map(cellsOf);
  const setups = head.slice(1);
  const sums = (rows.at(-1) ?? []).slice(1);
  const met = rows.slice(0, -1).map(([requirement = "", ...cells]) => {
    const among = setups.filter((_, index) => cells[index] !== "");
    const without = (/** @type {string} */ value) =>
      among.filter((setup) => cells[setups.indexOf(setup)] === value);
    const [failed, lacking] = [without("no"), without("n/a")];
    const kind =
      among.length === setups.length
        ? ""
        : among.every((setup) => setup.endsWith(FRAMEWORK_SESSIONS))
          ? " with the framework's sessions"
          : " with idpauth's sessions";
    return [
      requirement,
      [
        `all ${among.length - failed.length - lacking.length}${kind}`,
        ...(lacking.length > 0 ? [`doesn't apply to ${list(lacking)}`] : []),
        ...(failed.length > 0 ? [`**not by ${list(failed)}**`] : []),
      ].join("; "),
    ];
  });
  const reasons = lines.filter((line) => line.startsWith("- "));
  return [
    markdown(
      ["Setup", "Requirements met"],
      setups.map((setup, index) => [setup, sums[index] ?? ""]),
    ),
    markdown(["Requirement", "Setups that meet it"], met),
    ...(reasons.length > 0 ? [reasons.join("\n")] : []),
  ].join("\n\n");
}

const FRAMEWORK_SESSIONS = ", its own sessions";

/** @param {readonly string[]} names */
function list(names) {
  return new Intl.ListFormat("en").format(names);
}

/** @param {string} line */
function cellsOf(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
function markdown(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
