import { readBench } from "../../scripts/evidence/files.mjs";

/** @typedef {import("./drawing.mjs").Drawing} Drawing */

const MEASURED = ": a guard, signed-in user, in process";

/** Microseconds of processor time for each framework, the cheapest first. */
const COSTS = (readBench()["in-process"]?.rows ?? [])
  .filter(({ name }) => name.endsWith(MEASURED))
  .map(({ name, value }) => ({ framework: name.slice(0, -MEASURED.length), microseconds: value }))
  .toSorted((one, other) => one.microseconds - other.microseconds);

const LONGEST = Math.max(...COSTS.map(({ microseconds }) => microseconds));

export const title = "What a guard costs, per request of a signed-in user";
export const description = `Microseconds of processor time, with sessions in memory: ${COSTS.map(
  ({ framework, microseconds }) => `${framework} ${microseconds.toFixed(1)}`,
).join(", ")}.`;

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 12 : 24;
  const left = edge + 84;
  const room = width - edge - left - 60;
  let y =
    drawing.text("Extra processor time for a guarded request, sessions in memory", {
      x: edge,
      y: 16,
      width: width - 2 * edge,
      soft: true,
    }) + 12;
  for (const { framework, microseconds } of COSTS) {
    const length = (room * microseconds) / LONGEST;
    drawing.text(framework, { x: edge, y: y + 2, width: 84 });
    drawing.bar({ x: left, y, width: length, height: 20 }, "full");
    drawing.text(`${microseconds.toFixed(1)} µs`, {
      x: left + length + 8,
      y: y + 2,
      width: 60,
      bold: true,
    });
    y += 30;
  }
}
