import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { buildPackage } from "../support/build.js";
import { ROOT } from "./live-run.js";
import { emptyFolder } from "./provider-run.js";

/** The build, as the package's own `idpauth` command. */
const CLI = path.join(ROOT, "dist/cli/idpauth.js");

beforeAll(buildPackage);

function start(folder: string, ...args: string[]) {
  const child = spawn(process.execPath, [CLI, "provider", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = { stdout: "", stderr: "" };
  let started: (port: number) => void = () => {};
  const running = new Promise<number>((resolve) => (started = resolve));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.stdout += text;
    if (written.stdout.includes("Ctrl+C"))
      started(Number(/127\.0\.0\.1:(\d+)/.exec(written.stdout)?.[1]));
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (written.stderr += text));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, ...written }));
  });
  return { child, running, ended };
}

describe("idpauth provider, as a process", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends on %s with exit code 0, also with a connection open",
    async (signal) => {
      const { child, running, ended } = start(emptyFolder(), "--port=0");
      expect((await fetch(`http://127.0.0.1:${await running}/jwks`)).status).toBe(200);
      child.kill(signal);
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it("ends with exit code 2 and a remedy when its port is in use", async () => {
    const folder = emptyFolder();
    const first = start(folder, "--port=0");
    const second = start(folder, `--port=${await first.running}`);
    expect(await second.ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("is in use"),
    });
    first.child.kill();
    await first.ended;
  });

  it("is not loaded by `idpauth check`", () => {
    const loaded = new Set<string>();
    const load = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const [, target = ""] of readFileSync(file, "utf8").matchAll(
        /^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];/gm,
      ))
        load(path.resolve(path.dirname(file), target));
    };
    load(CLI);
    expect(loaded.size).toBeGreaterThan(1);
    // `generateKeyPair` is the test provider's own.
    for (const file of loaded)
      expect(readFileSync(file, "utf8")).not.toMatch(/generateKeyPair|Choose a person to sign in/);
  });
});
