import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withFileLock } from "../../scripts/file-lock.mjs";

let folder: string;
let lock: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-lock-"));
  lock = path.join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Another process, which takes the lock and never gives it back. */
async function processThatHoldsTheLock() {
  const script = `
    import { withFileLock } from ${JSON.stringify(new URL("../../scripts/file-lock.mjs", import.meta.url).href)};
    await withFileLock(${JSON.stringify(lock)}, () => new Promise(() => { console.log("held"); setInterval(() => {}, 1000); }));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

describe("a file lock", () => {
  it("lets one holder in at a time, and gives each its result", async () => {
    let inside = 0;
    let most = 0;
    const results = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        withFileLock(lock, async () => {
          most = Math.max(most, ++inside);
          await new Promise(setImmediate);
          inside -= 1;
          return number;
        }),
      ),
    );
    expect([most, results, existsSync(lock)]).toEqual([1, [1, 2, 3, 4, 5], false]);
  });

  it("is free again after work that failed", async () => {
    await expect(
      withFileLock(lock, () => Promise.reject(new Error("work failed"))),
    ).rejects.toThrow("work failed");
    expect(await withFileLock(lock, () => "next")).toBe("next");
  });

  it("is not given while another process holds it; is taken over by one waiting process when that process has died", async () => {
    const child = await processThatHoldsTheLock();
    await expect(withFileLock(lock, () => "too early", { seconds: 0 })).rejects.toThrow(
      /still locked/,
    );
    child.kill("SIGKILL");
    await once(child, "close");
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all([
      withFileLock(lock, work),
      withFileLock(lock, work),
      withFileLock(lock, work),
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("keeps the lock of a process that took it after the dead one", async () => {
    // What a slow process sees that read the dead holder's name before another process took over.
    const live = `${String(process.pid)} someone`;
    writeFileSync(lock, live);
    await expect(withFileLock(lock, () => "too early", { seconds: 0 })).rejects.toThrow(
      /still locked/,
    );
    expect(readFileSync(lock, "utf8")).toBe(live);
  });
});
