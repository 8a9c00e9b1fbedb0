// One row per number: the measurement, its result, the spread of the rounds, and the goal.

const decimals = (value) =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(2);

/** Returns a row for the ratio of two series. */
export function ratioRow(name, { ratio, min, max }, bar, note = "") {
  const isMet =
    bar === undefined
      ? undefined
      : bar.atLeast !== undefined
        ? ratio >= bar.atLeast
        : ratio <= bar.atMost;
  return { name, value: ratio, spread: [min, max], bar, isMet, note };
}

/** Returns a row for a single number. */
export function numberRow(name, value, bar, note = "", spread = undefined) {
  const isMet =
    bar === undefined
      ? undefined
      : bar.atLeast !== undefined
        ? value >= bar.atLeast
        : value <= bar.atMost;
  return { name, value, spread, bar, isMet, note };
}

export function markdown(rows) {
  const lines = rows.map(({ name, value, spread, bar, isMet, note }) => {
    const asked =
      bar === undefined
        ? ""
        : bar.atLeast !== undefined
          ? `at least ${bar.atLeast}`
          : `at most ${bar.atMost}`;
    const verdict = isMet === undefined ? "" : isMet ? "yes" : "**no**";
    return `| ${name} | ${decimals(value)} | ${spread === undefined ? "" : spread.map(decimals).join(" to ")} | ${asked} | ${verdict} | ${note} |`;
  });
  return [
    "| Measurement | Result | Spread over rounds | Asked | Met | Medians |",
    "|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
