import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPackage } from "../support/build.js";

// The samples of docs/how-to/sessions.md and docs/how-to/signing-out.md, each as a program of its
// own, with the built package. Those with a client of a database are files, which
// test/samples/shutdown-with-stores.matrix.test.ts runs.

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGES = ["docs/how-to/sessions.md", "docs/how-to/signing-out.md"];
const TEXT = PAGES.map((page) => readFileSync(path.join(ROOT, page), "utf8")).join("\n");
const run = promisify(execFile);
const SNIPPETS = [...TEXT.matchAll(/(?<!<!-- snippet: [^\n]+\n\n)^```js\n(.*?)^```$/gms)].map(
  ([, text = ""]) => text,
);

let folder = "";

beforeAll(async () => {
  await buildPackage();
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-scaling-"));
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/idpauth"));
  for (const name of ["express", "ioredis", "pg", "redis"]) {
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const snippet = (...words: string[]): string => {
  const found = SNIPPETS.filter((text) => words.every((word) => text.includes(word)));
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${String(found.length)} snippets with ${words.join()}`);
  return found[0];
};

/**
 * Runs a snippet in an application whose startup checks must find nothing, and asks its store
 * something.
 */
async function answer(text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const program = path.join(folder, "application.mjs");
  writeFileSync(
    program,
    `import express from "express";
import { idpAuth } from "idpauth/express";
${text}
const findings = auth.mount(express());
console.log(JSON.stringify({ errors: findings.filter(({ severity }) => severity === "error"), sessions: await auth.listSessions({ iss: "https://idp.example", sub: "ada" }) }));
process.exit();
`,
  );
  const application = {
    SECRET_KEY: "a secret key of at least 32 bytes",
    IDP_CLIENT_ID: "client",
    IDP_CLIENT_SECRET: "secret",
  };
  const { stdout } = await run(process.execPath, [program], {
    cwd: folder,
    env: { ...application, ...env },
  });
  return stdout.trim();
}

const FINE = '{"errors":[],"sessions":[]}';

describe("the pages about stores and ending sessions", () => {
  it("SQLite", async () => {
    const text = snippet("idpauth/sqlite").replace("sessions.db", path.join(folder, "sessions.db"));
    expect(await answer(text)).toBe(FINE);
    expect(existsSync(path.join(folder, "sessions.db"))).toBe(true);
  });

  it("signing out everywhere calls functions that are there", async () => {
    const text = snippet("endAllSessions");
    const program = path.join(folder, "everywhere.mjs");
    writeFileSync(
      program,
      `import { idpAuth } from "idpauth/express";
const { listSessions, endSession, endAllSessions } = idpAuth({ env: { SECRET_KEY: "a secret key of at least 32 bytes", IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "secret" } });
const auth = { listSessions, endSession, endAllSessions, requireSession: async () => ({ claims: { iss: "https://idp.example", sub: "ada" } }) };
const request = { headers: {}, url: "/", app: { get: () => () => false }, socket: {} };
${text}
console.log("done");
`,
    );
    expect((await run(process.execPath, [program], { cwd: folder })).stdout).toBe("done\n");
  });

  it("every snippet is run; that of the session limits in readme.matrix.test.ts", () => {
    expect(SNIPPETS).toHaveLength(3);
    expect(snippet("sessionMaxAge")).toContain("sessionIdleTimeout");
  });
});
