import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createBalancer } from "./balancer.js";
import type { ChildNews, ChildOrder, ChildSetup } from "./fleet-process.js";
import type { Processes } from "./processes.js";
import { runDemo } from "./run.js";
import type { Surroundings } from "./surroundings.js";

const NAMES = ["app-1", "app-2"];

/** From the end of a process to its next start. */
const PAUSE_MS = 4000;
/** How long a process may take to end by itself. */
const PATIENCE_MS = 5000;

interface Member {
  readonly name: string;
  child: ChildProcess | undefined;
  /** Where it listens; undefined while it doesn't. */
  port: number | undefined;
}

/** Two processes of the application, which share the sessions, and a supervisor that restarts them. */
async function fleet({ env, clock, ordersUrl, sessionFile }: Surroundings): Promise<Processes> {
  const members = NAMES.map((name): Member => ({ name, child: undefined, port: undefined }));
  let isEnding = false;
  /** Milliseconds that the demo's clock has skipped. */
  let skipped = 0;
  await Promise.all(members.map(start));

  async function start(member: Member): Promise<void> {
    const child = fork(`${import.meta.dirname}/fleet-process.js`, { stdio: "inherit" });
    member.child = child;
    child.once("exit", () => {
      member.port = undefined;
      member.child = undefined;
      if (isEnding) return;
      console.log(`${member.name} has ended. It starts again in ${PAUSE_MS / 1000} seconds.`);
      setTimeout(() => {
        if (!isEnding) void start(member).then(() => console.log(`${member.name} is back.`));
      }, PAUSE_MS).unref();
    });
    const setup: ChildSetup = { env, ordersUrl, sessionFile, name: member.name, skipped };
    child.send(setup);
    const { port } = await news(child);
    // What was skipped while it started.
    if (skipped > setup.skipped) {
      child.send({ advance: skipped - setup.skipped } satisfies ChildOrder);
      await news(child);
    }
    member.port = port;
  }

  async function order(message: ChildOrder): Promise<void> {
    await Promise.all(
      members.map(async ({ child, port }) => {
        if (child === undefined || port === undefined) return;
        child.send(message);
        await Promise.race([news(child), once(child, "exit")]);
      }),
    );
  }

  return {
    ...createBalancer(() =>
      members.flatMap(({ name, port }) => (port === undefined ? [] : [{ name, port }])),
    ),
    get states() {
      return members.map(({ name, child, port }) => ({
        name,
        pid: child?.pid,
        isRunning: port !== undefined,
      }));
    },
    async advance(milliseconds) {
      skipped += milliseconds;
      clock.advance(milliseconds);
      await order({ advance: milliseconds });
    },
    failStore: (milliseconds) => order({ failStore: milliseconds }),
    kill(name) {
      const member = members.find((one) => one.name === name);
      member?.child?.kill("SIGKILL");
    },
    async close() {
      isEnding = true;
      await Promise.all(members.map(({ child }) => end(child)));
    },
  };
}

async function news(child: ChildProcess): Promise<ChildNews> {
  const [message] = (await once(child, "message")) as [ChildNews];
  return message;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  await gone;
  clearTimeout(timer);
}

await runDemo(fleet);
