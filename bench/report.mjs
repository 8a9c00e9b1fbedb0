// One row per number: the measurement, its result, the spread of the rounds, and the goal.

const decimals = (value) =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(2);

/** Returns a row for the ratio of two series. */
export function ratioRow(name, { ratio, min, max }, goal, note = "") {
  const isMet =
    goal === undefined
      ? undefined
      : goal.atLeast !== undefined
        ? ratio >= goal.atLeast
        : ratio <= goal.atMost;
  return { name, value: ratio, unit: "ratio", spread: [min, max], goal, isMet, note };
}

/** Returns a row for a single number, with its unit and the spread of the rounds if it has them. */
export function numberRow(name, value, goal, note = "", { unit, spread } = {}) {
  const isMet =
    goal === undefined
      ? undefined
      : goal.atLeast !== undefined
        ? value >= goal.atLeast
        : value <= goal.atMost;
  return { name, value, unit, spread, goal, isMet, note };
}

export function markdown(rows) {
  const lines = rows.map(({ name, value, unit, spread, goal, isMet, note }) => {
    const asked =
      goal === undefined
        ? ""
        : goal.atLeast !== undefined
          ? `at least ${goal.atLeast}`
          : `at most ${goal.atMost}`;
    const verdict = isMet === undefined ? "" : isMet ? "yes" : "**no**";
    return `| ${name} | ${decimals(value)}${unit === undefined || unit === "ratio" ? "" : ` ${unit}`} | ${spread === undefined ? "" : spread.map(decimals).join(" to ")} | ${asked} | ${verdict} | ${note} |`;
  });
  return [
    "| Measurement | Result | Spread over rounds | Asked | Met | Medians |",
    "|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
