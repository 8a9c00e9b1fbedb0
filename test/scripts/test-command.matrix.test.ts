import { spawnSync } from "node:child_process";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runChecks } from "../../scripts/checks.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Runs the command as npm does, without what this run of vitest put into the environment. */
function testCommand(...args: readonly string[]) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^VITEST|^(?:TEST|NODE_ENV|NODE_OPTIONS)$/.test(name),
    ),
  );
  const { status, stdout } = spawnSync(process.execPath, ["scripts/test.mjs", ...args], {
    cwd: ROOT,
    env,
    encoding: "utf8",
  });
  return { status, lastLine: stdout.trimEnd().split("\n").at(-1), stdout };
}

describe("a test command", () => {
  it("ends with a line that says how many tests passed and failed", () => {
    const { status, lastLine, stdout } = testCommand("main", "test/pages/texts.unit.test.ts");
    expect(lastLine).toMatch(/^[1-9]\d* passed, 0 failed$/);
    expect(status).toBe(0);
    expect(stdout).not.toContain("Lint");
  });

  it("fails when a path names no test", () => {
    expect(testCommand("unit", "test/no-such-test")).toMatchObject({
      status: 1,
      lastLine: "0 passed, 1 failed",
    });
  });

  it("is unit, main or matrix", () => {
    expect(testCommand("everything").status).toBe(1);
  });
});

describe("the checks", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    for (const method of ["log", "error"] as const)
      vi.spyOn(console, method).mockImplementation((text: string) => void lines.push(text));
  });
  afterEach(() => vi.restoreAllMocks());

  const check = (title: string, code: string) => [title, ["-e", code]] as const;

  it("pass when each one passes", async () => {
    expect(await runChecks([[check("one", "")], [check("two", ""), check("three", "")]])).toBe(0);
  });

  it("fail when one fails, which ends its lane and not the other", async () => {
    const failing = check("failing", "console.log('the reason'); process.exit(3)");
    expect(
      await runChecks([
        [failing, check("after it", "")],
        [check("beside it", ""), check("after that", "")],
      ]),
    ).toBe(3);
    const output = lines.join("\n");
    expect(output).toContain("Failed: failing");
    expect(output).not.toContain("after it");
    expect(output).toContain("after that");
  });

  it("print the output of each one in one piece, below its title", async () => {
    const slow = "console.log('a'); setImmediate(() => console.log('b'))";
    await runChecks([[check("slow", slow)], [check("quick", "console.log('c')")]]);
    const output = lines.join("\n");
    expect(output).toMatch(/── slow, \d+ s ─+\na\nb/);
    expect(output).toMatch(/── quick, \d+ s ─+\nc/);
  });
});
