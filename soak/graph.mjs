// Draws the soak: memory and event-loop delay over time, with the faults as bands behind the lines.

const WIDTH = 960;
const PANEL = { left: 64, right: 16, height: 190, gap: 56, top: 64 };

/**
 * @param {{ samples: readonly any[], faults: readonly { name: string, from: number, to: number }[], seconds: number, title: string, subtitle: string }}
 *   run
 * @returns {string} SVG, readable on light and on dark
 */
export function graph({ samples, faults, seconds, title, subtitle }) {
  const inner = WIDTH - PANEL.left - PANEL.right;
  const x = (at) => PANEL.left + (at / seconds) * inner;
  const mib = (bytes) => bytes / 1024 / 1024;
  const panels = [
    {
      title: "Memory, MiB",
      lines: [
        ["resident", samples.map(({ at, rss }) => [at, mib(rss)])],
        ["heap after collection", samples.map(({ at, heapUsed }) => [at, mib(heapUsed)])],
      ],
    },
    {
      title: "Event-loop delay of each interval, ms",
      lines: [["p99", samples.map(({ at, p99 }) => [at, p99])]],
      limit: 50,
    },
    {
      title: "Responses a second",
      lines: [
        ["all", samples.map(({ at, rate }) => [at, rate])],
        ["503", samples.map(({ at, unavailable }) => [at, unavailable])],
      ],
    },
  ];
  const bottom = PANEL.top + panels.length * (PANEL.height + PANEL.gap);
  const bands = faults.map(({ name, from, to }, index) => {
    const width = Math.max(2, x(to) - x(from));
    const label = `<text class="fault" transform="translate(${(x(from) + 3).toFixed(1)} ${bottom - 20}) rotate(38)">${escape(`${index + 1} ${name}`)}</text>`;
    return `<rect class="band" x="${x(from).toFixed(1)}" y="${PANEL.top}" width="${width.toFixed(1)}" height="${bottom - PANEL.top - PANEL.gap}"/>${label}`;
  });
  const drawn = panels.map((panel, index) =>
    draw(panel, PANEL.top + index * (PANEL.height + PANEL.gap), x, seconds),
  );
  const height = bottom + 150;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(`${title}. ${subtitle}`)}">
<style>
  svg { font: 12px system-ui, sans-serif; background: #fff; color: #1b1f24 }
  text { fill: currentColor } .title { font-size: 18px; font-weight: 600 } .quiet, .fault { opacity: .7 } .fault { font-size: 10px }
  .band { fill: #e8590c; opacity: .16 } .grid { stroke: currentColor; opacity: .15 } .limit { stroke: #c92a2a; stroke-dasharray: 5 4 }
  .line { fill: none; stroke-width: 1.6 } .a { stroke: #1864ab } .b { stroke: #2b8a3e } text.a { fill: #1864ab; stroke: none } text.b { fill: #2b8a3e; stroke: none }
  @media (prefers-color-scheme: dark) { svg { background: #14171a; color: #e6e8ea } .a { stroke: #74c0fc } .b { stroke: #8ce99a } text.a { fill: #74c0fc } text.b { fill: #8ce99a } }
</style>
<text class="title" x="${PANEL.left}" y="26">${escape(title)}</text><text class="quiet" x="${PANEL.left}" y="44">${escape(subtitle)}</text>
${bands.join("\n")}
${drawn.join("\n")}
</svg>
`;
}

function draw({ title, lines, limit }, top, x, seconds) {
  const most = nice(
    Math.max(limit ?? 0, ...lines.flatMap(([, points]) => points.map(([, value]) => value))) * 1.08,
  );
  const y = (value) => top + PANEL.height - (value / most) * PANEL.height;
  const right = WIDTH - PANEL.right;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(most * share).toFixed(1);
    return `<line class="grid" x1="${PANEL.left}" x2="${right}" y1="${at}" y2="${at}"/><text class="quiet" x="${PANEL.left - 8}" y="${Number(at) + 4}" text-anchor="end">${round(most * share)}</text>`;
  });
  const step = seconds > 300 ? 120 : seconds > 90 ? 30 : 10;
  const minutes = Array.from(
    { length: Math.floor(seconds / step) + 1 },
    (_, index) => index * step,
  ).map(
    (at) =>
      `<text class="quiet" x="${x(at).toFixed(1)}" y="${top + PANEL.height + 16}" text-anchor="middle">${seconds > 300 ? `${at / 60} min` : `${at} s`}</text>`,
  );
  const paths = lines.map(([name, points], index) => {
    const colour = index === 0 ? "a" : "b";
    const d = points
      .map(
        ([at, value], point) =>
          `${point === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`,
      )
      .join("");
    return `<path class="line ${colour}" d="${d}"/><text class="${colour}" x="${right - 140 * (lines.length - 1 - index)}" y="${top - 6}" text-anchor="end">${escape(name)}</text>`;
  });
  const line =
    limit === undefined
      ? ""
      : `<line class="limit" x1="${PANEL.left}" x2="${right}" y1="${y(limit).toFixed(1)}" y2="${y(limit).toFixed(1)}"/>`;
  return `<text x="${PANEL.left}" y="${top - 6}">${escape(title)}</text>${grid.join("")}${minutes.join("")}${line}${paths.join("")}`;
}

function nice(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return Math.ceil(value / power / 0.4) * 0.4 * power;
}

function round(value) {
  return value >= 20 ? value.toFixed(0) : String(Number(value.toFixed(1)));
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
