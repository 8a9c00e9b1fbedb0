/** @typedef {import("./drawing.mjs").Drawing} Drawing */

/**
 * Microseconds of processor time, from the table "Processor time of a guard, in process" in
 * docs/evidence/performance.md, which a test compares.
 */
export const COSTS = /** @type {const} */ ([
  ["Fastify 5", 3.0],
  ["node:http", 3.4],
  ["Koa 3", 3.7],
  ["fetch-style", 4.0],
  ["Hono 4", 5.7],
  ["Express 5", 11.8],
]);

const LONGEST = Math.max(...COSTS.map(([, microseconds]) => microseconds));

export const title = "What a guard costs, per request of a signed-in user";
export const description = `Microseconds of processor time, with sessions in memory: ${COSTS.map(
  ([framework, microseconds]) => `${framework} ${microseconds.toFixed(1)}`,
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
  for (const [framework, microseconds] of COSTS) {
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
