// One application in a process of its own, so that its memory and its errors are nobody else's:
// the proxy, and two routes that pass a body on through `fetchApi`. Run with --expose-gc.
import { servers } from "./servers.mjs";

/** @type {import("./hosts.js").ApplicationOptions} */
const options = JSON.parse(process.argv[2] ?? "{}");

/** Milliseconds between two looks at the process's memory while a body passes. */
const LOOK = 10;

// When the test is gone, however it went, so is its process.
process.on("disconnect", () => process.exit(1));

/** @type {string[]} */
const unhandled = [];
for (const kind of ["unhandledRejection", "uncaughtException"])
  process.on(kind, (error) => unhandled.push(`${kind}: ${String(error?.stack ?? error)}`));

/**
 * The largest memory since the last `memory` or `watch`: of the process, and of what is outside
 * its heap.
 */
const most = { rss: 0, external: 0 };

function look() {
  const { rss, external } = process.memoryUsage();
  most.rss = Math.max(most.rss, rss);
  most.external = Math.max(most.external, external);
}

/** @type {NodeJS.Timeout | undefined} */
let watching;

/** @type {Record<string, () => unknown>} */
const methods = {
  /** Starts to look for the largest memory. */
  watch() {
    clearInterval(watching);
    Object.assign(most, { rss: 0, external: 0 });
    look();
    watching = setInterval(look, LOOK);
  },
  most() {
    clearInterval(watching);
    look();
    return most;
  },
  /** Bytes in use once further collections free nothing more: on the heap and outside it. */
  async inUse() {
    let least = Infinity;
    for (let quiet = 0, made = 0; quiet < 5 && made < 50; quiet += 1, made += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { heapUsed, external } = process.memoryUsage();
      if (heapUsed + external < least - 50_000) quiet = 0;
      least = Math.min(least, heapUsed + external);
    }
    return least;
  },
  unhandled: () => unhandled,
};

/** @param {unknown} message */
async function respond(message) {
  const { id, method } = /** @type {{ id: number, method: string }} */ (message);
  process.send?.({ id, response: await methods[method]?.() });
}
process.on("message", (message) => void respond(message));

const port = await servers[options.host]?.(options);
process.send?.({ port });
