// Does nothing but measure its event-loop delay, which is what other programs on the machine cost
// every process.
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.on("message", () =>
  process.send({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }),
);
