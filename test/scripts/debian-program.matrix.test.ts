import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { guarded } from "../../scripts/debian-program.mjs";
import { eventually } from "../support/eventually.js";

let folder = "";
let guard = "";

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "debian-program-"));
  guard = path.join(folder, "policy-rc.d");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it.each(["SIGHUP", "SIGINT", "SIGTERM"] as const)(
  "an installation that %s interrupts leaves no policy behind",
  async (signal) => {
    // A group of its own is what a terminal's signal reaches: shell and command alike.
    const child = spawn("sh", ["-c", guarded("sleep 30", guard)], {
      detached: true,
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await eventually(async () => {
      expect(existsSync(guard)).toBe(true);
    });
    process.kill(-child.pid!, signal);
    expect(await ended).toBe(1);
    expect(existsSync(guard)).toBe(false);
  },
);

it("has the policy while it runs, and gives the command's code", async () => {
  const child = spawn("sh", ["-c", guarded(`test -x ${guard} && exit 7`, guard)], {
    stdio: "ignore",
  });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(7);
  expect(existsSync(guard)).toBe(false);
});

it("leaves the machine's own policy alone", async () => {
  writeFileSync(guard, "of its own");
  const child = spawn("sh", ["-c", guarded("true", guard)], { stdio: "ignore" });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  expect(existsSync(guard)).toBe(true);
});
