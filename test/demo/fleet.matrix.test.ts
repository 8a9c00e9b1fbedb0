import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDemoProcess, type DemoProcess } from "../../scripts/demo-process.mjs";
import { eventually } from "../support/eventually.js";
import { race, signedIn } from "./demo-user.js";

interface State {
  readonly processes: readonly {
    readonly name: string;
    readonly pid?: number;
    readonly isRunning: boolean;
  }[];
}

describe("the fleet", () => {
  let fleet: DemoProcess;
  beforeAll(async () => {
    fleet = await startDemoProcess("fleet.js");
  }, 240_000);

  const state = async () => (await (await fetch(`${fleet.origin}/demo/state`)).json()) as State;

  it("two processes share the sessions, and need one token request for 200 requests", async () => {
    const user = await signedIn(fleet.origin, "staff");
    expect(await race(user, "/demo/race")).toEqual({
      succeeded: 200,
      processes: new Set(["app-1", "app-2"]),
      killed: undefined,
      tokenRequests: 1,
    });
  }, 60_000);

  it("a process that is killed in the middle of its token request signs nobody out, and starts again", async () => {
    const user = await signedIn(fleet.origin, "customers");
    const before = await state();
    const { succeeded, killed, tokenRequests } = await race(user, "/demo/race?kill");
    expect([succeeded, tokenRequests]).toEqual([200, 2]);
    expect((await user.get("/api/me")).json()).toMatchObject({ name: "Mary Somerville" });
    await eventually(async () => {
      const { processes } = await state();
      expect(processes.map(({ isRunning }) => isRunning)).toEqual([true, true]);
      const changed = processes.filter(({ pid }, index) => pid !== before.processes[index]?.pid);
      expect(changed.map(({ name }) => name)).toEqual([killed]);
    });
    // The new process knows the time that the demo has skipped.
    expect((await race(user, "/demo/race")).processes.size).toBe(2);
  }, 120_000);

  afterAll(async () => {
    const pids = (await state()).processes.map(({ pid }) => pid ?? 0);
    expect(pids.every((pid) => pid > 0)).toBe(true);
    expect(await fleet.end("SIGINT")).toMatchObject({ code: 0, left: [] });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
