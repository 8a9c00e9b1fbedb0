import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { POSTGRES, REDIS, SQLITE, type StoreRig } from "./store-rigs.js";
import { buildPackage } from "../support/build.js";

const COUNT = 10_000;

/** Bytes that the process may need for its work: a fifth of what all these sessions take. */
const MOST_GROWTH = 20 * 1_048_576;

/** A busy machine gives the process, which works for less than a minute, a tenth of its time. */
const PATIENT = { timeout: 900_000 };

const memory: Pick<StoreRig, "name"> & {
  start(): Promise<{ options: object; stop(): Promise<void> }>;
} = {
  name: "memory",
  start: async () => ({ options: { kind: "memory" }, stop: async () => undefined }),
};
const rigs = [memory, SQLITE, REDIS, POSTGRES];

interface Outcome {
  readonly status: number;
  readonly ended: number;
  readonly left: number;
  readonly growth: number;
}

beforeAll(buildPackage);

describe.each(rigs)("10,000 sessions of one user, $name", ({ start }) => {
  it.each(["endAllSessions", "logout"])(
    "%s ends all of them, announces each, and needs little memory",
    PATIENT,
    async (by) => {
      const running = await start();
      // What the store needs is not on this machine, which has been said.
      if (running === undefined) return;
      try {
        const plan = JSON.stringify({ store: running.options, count: COUNT, by });
        // Without NODE_OPTIONS, because a recorder of the test run keeps what it sees.
        const { NODE_OPTIONS: _recorded, ...env } = process.env;
        const program = path.join(import.meta.dirname, "many-sessions.mjs");
        const { stdout } = await promisify(execFile)(
          process.execPath,
          ["--expose-gc", program, plan],
          { env },
        );
        const { status, ended, left, growth } = JSON.parse(stdout) as Outcome;
        expect({ status, ended, left }).toEqual({ status: 200, ended: COUNT, left: 0 });
        expect(growth).toBeLessThan(MOST_GROWTH);
      } finally {
        await running.stop();
      }
    },
  );
});
