import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { freePort } from "../support/free-port.js";
import { ensurePostgres, startPostgres } from "../support/postgres-server.js";
import { redisForTests, startRedis } from "../support/redis-server.js";
import { choose, DemoProcess } from "./demo-process.js";

const hasRedis = (await redisForTests()) !== undefined;
const hasPostgres = (await ensurePostgres()) !== undefined;

const NAME = `idpauth-demo-${String(process.getuid?.() ?? "user")}`;
/**
 * Long enough to see that the session outlived the restart before its tokens run out, and not
 * longer.
 */
const SHORT = { DEMO_ID_TOKEN_SECONDS: "4" };

const running: DemoProcess[] = [];
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "demo-sessions-"));
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL")));
  rmSync(folder, { recursive: true, force: true });
});

function start(env: Readonly<Record<string, string>> = {}): DemoProcess {
  const demo = new DemoProcess({ TMPDIR: folder, ...env });
  running.push(demo);
  return demo;
}

async function signIn(demo: DemoProcess): Promise<CookieBrowser> {
  const browser = await demo.browser();
  expect((await choose(browser, await browser.follow("/reports"), "ada")).text).toContain(
    "Signed in as Ada Lovelace",
  );
  return browser;
}

function providerOf(demo: DemoProcess): string | undefined {
  return /^Provider: (\S+)/m.exec(demo.stdout)?.[1];
}

/**
 * The same cookies at the demo as it is now: the probe knows them, and when the ID token has run
 * out, it is renewed.
 */
async function expectStillSignedIn(browser: CookieBrowser, demo: DemoProcess): Promise<void> {
  const probe = `${await demo.origin()}/idpauth/session?details=true`;
  const before = (await browser.get(probe)).json();
  expect(before).toMatchObject({ authenticated: true, user: { email: "ada@example.com" } });
  // The provider's clock is the real one: wait for the second that the token names, no longer.
  await delay((before.expires_in as number) * 1000 + 10);
  expect((await browser.get(probe)).json()).toMatchObject({
    authenticated: true,
    user: { email: "ada@example.com" },
  });
  // What the refresh brought is good at the provider.
  expect((await browser.get(`${await demo.origin()}/api/userinfo`)).json()).toMatchObject({
    sub: "ada",
  });
}

describe("a restart of the demo", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)(
    "by %s keeps everybody signed in, and the restarted provider renews their tokens",
    async (signal) => {
      const first = start(SHORT);
      const browser = await signIn(first);
      await first.kill(signal);
      const second = start(SHORT);
      await expectStillSignedIn(browser, second);
      expect(providerOf(second)).toBe(providerOf(first));
      expect(second.stderr).toBe(first.stderr);
    },
  );

  it("keeps what it needs in a folder for this user alone", async () => {
    mkdirSync(path.join(folder, NAME));
    chmodSync(path.join(folder, NAME), 0o755);
    const demo = start();
    await demo.origin();
    expect(readdirSync(folder)).toEqual([NAME]);
    expect(readdirSync(path.join(folder, NAME))).toEqual(
      expect.arrayContaining(["demo.db", "sessions.db"]),
    );
    expect(statSync(path.join(folder, NAME)).mode & 0o777).toBe(0o700);
  });

  it.each(["memory", "host"])(
    "with DEMO_SESSIONS=%s keeps nothing, also no file",
    async (sessions) => {
      const env = { DEMO_SESSIONS: sessions };
      const first = start(env);
      const browser = await signIn(first);
      await first.kill();
      expect(readdirSync(folder)).toEqual([]);
      const second = start(env);
      expect((await browser.get(`${await second.origin()}/idpauth/session`)).json()).toMatchObject({
        authenticated: false,
      });
    },
  );

  it("with sqlite:PATH keeps the sessions in that file", async () => {
    const env = { ...SHORT, DEMO_SESSIONS: `sqlite:${path.join(folder, "mine.db")}` };
    const first = start(env);
    const browser = await signIn(first);
    expect(first.stdout).toMatch(/^Sessions: .*mine\.db \(a restart keeps them\)$/m);
    // It comes and goes, and neither keeps this one from its own keys nor takes them.
    const other = start();
    await other.origin();
    await first.kill("SIGKILL");
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["mine.db", "mine.db-demo"]));
    expect(statSync(path.join(folder, "mine.db-demo")).mode & 0o777).toBe(0o600);
    const second = start(env);
    await expectStillSignedIn(browser, second);
    expect(providerOf(second)).toBe(providerOf(first));
  });

  it("with sqlite:PATH stops while another demo holds what belongs to that file", async () => {
    const env = { DEMO_SESSIONS: `sqlite:${path.join(folder, "mine.db")}` };
    await start(env).origin();
    const { code, stderr } = await start(env).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Another demo runs with these sessions: .*mine\.db-demo\. End it, or give this one other sessions\.\n$/,
    );
  });

  it("with sqlite::memory: claims nothing and writes no file; sqlite alone is the default", async () => {
    const memory = start({ DEMO_SESSIONS: "sqlite::memory:" });
    await signIn(memory);
    expect(memory.stdout).toMatch(/^Sessions: SQLite's, in this process's memory, until it ends$/m);
    expect(readdirSync(folder)).toEqual([]);
    await start({ DEMO_SESSIONS: "sqlite" }).origin();
    expect(readdirSync(folder)).toEqual([NAME]);
  });

  it.skipIf(!hasRedis)(
    "with redis:// keeps the sessions there, and waits out an outage",
    async () => {
      const redis = await startRedis({ durable: true });
      try {
        const env = { ...SHORT, DEMO_SESSIONS: redis.url };
        const first = start(env);
        const browser = await signIn(first);
        await first.kill("SIGKILL");
        // A demo of its own in between must not change whose keys these are.
        await start().origin();
        const second = start(env);
        await expectStillSignedIn(browser, second);
        expect(second.stdout).toMatch(/^Sessions: redis:.* \(a restart keeps them\)$/m);
        const [kept] = readdirSync(folder).filter((name) =>
          new RegExp(`^${NAME}-[0-9a-f]{10}$`).test(name),
        );
        expect(kept).toBeDefined();
        const { code, stderr } = await start(env).ended;
        expect(code).toBe(1);
        expect(stderr).toContain("Another demo runs with these sessions");

        await redis.kill();
        const outage = await browser.get(`${await second.origin()}/api/reports`);
        expect({ status: outage.status, setCookies: outage.setCookies }).toEqual({
          status: 503,
          setCookies: [],
        });
        await redis.restart();
        await expect
          .poll(async () => (await browser.get(`${await second.origin()}/api/reports`)).status, {
            interval: 100,
          })
          .toBe(200);
        expect((await second.kill()).code).toBe(0);
        expect(second.stderr.match(/^Redis is .*/gm)).toEqual([
          expect.stringMatching(/^Redis is away \(.+\)/),
          "Redis is back.",
        ]);
      } finally {
        await redis.stop();
      }
    },
  );

  it.skipIf(!hasPostgres)(
    "with postgres:// makes its table and keeps the sessions there",
    async () => {
      const postgres = await startPostgres();
      try {
        const env = { ...SHORT, DEMO_SESSIONS: postgres.url };
        const first = start(env);
        const browser = await signIn(first);
        await first.kill("SIGKILL");
        const second = start(env);
        await expectStillSignedIn(browser, second);
        expect(await second.kill()).toMatchObject({ code: 0, signal: null });
      } finally {
        await postgres.stop();
      }
    },
  );
});

describe("the embedded provider's port", () => {
  it("is another one, and that is said, when the last one is taken", async () => {
    const first = start();
    await signIn(first);
    await first.kill();
    const other = createServer();
    await new Promise<void>((resolve) =>
      other.listen(Number(new URL(providerOf(first)!).port), "127.0.0.1", resolve),
    );
    try {
      const second = start();
      await second.origin();
      expect(providerOf(second)).not.toBe(providerOf(first));
      expect(second.stdout).toContain("Its last port is taken");
      await signIn(second);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it("that was set and is in use is reported plainly", async () => {
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = other.address() as { port: number };
      const { code, stderr } = await start({ DEMO_PROVIDER_PORT: String(port) }).ended;
      expect(code).toBe(1);
      expect(stderr).toContain("Set DEMO_PROVIDER_PORT to another one");
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});

describe("demos at the same time", () => {
  it("have a folder each, also when they start in the same instant", async () => {
    const demos = [start(), start(), start()];
    const browsers = await Promise.all(demos.map((demo) => signIn(demo)));
    expect(readdirSync(folder).sort()).toEqual([NAME, `${NAME}-2`, `${NAME}-3`]);
    for (const browser of browsers) expect((await browser.get("/api/reports")).status).toBe(200);
  });

  it("keep their users apart in one browser, which separates cookies by hostname and not by port", async () => {
    const first = start();
    const browser = await signIn(first);
    const second = start();
    const choice = await browser.follow(`${await second.origin()}/reports`);
    expect((await choose(browser, choice, "grace")).text).toContain("Signed in as Grace Hopper");
    expect((await browser.get(`${await first.origin()}/api/reports`)).json()).toMatchObject({
      user: { name: "Ada Lovelace" },
    });
  });
});

describe("without the drivers", () => {
  /** As if `npm ci --omit=…` had left them out: a hook that finds none of them. */
  function withoutDrivers(): { NODE_OPTIONS: string } {
    const gone = `const GONE = ["better-sqlite3", "redis", "pg"].filter((name) => name !== process.env.PRESENT);`;
    const hooks = `${gone}
      export async function resolve(name, context, next) {
        if (GONE.includes(name)) throw Object.assign(new Error("not installed"), { code: "ERR_MODULE_NOT_FOUND" });
        return next(name, context);
      }`;
    writeFileSync(path.join(folder, "hooks.mjs"), hooks);
    writeFileSync(
      path.join(folder, "register.mjs"),
      `import { Module, register } from "node:module";
      register("./hooks.mjs", import.meta.url);
      ${gone}
      const find = Module._resolveFilename;
      Module._resolveFilename = (name, ...rest) => find(GONE.includes(name) ? "./not-installed" : name, ...rest);
      // As an older Node, which has no SQLite of its own.
      const { getBuiltinModule } = process;
      process.getBuiltinModule = (name) => (name === "node:sqlite" ? undefined : getBuiltinModule(name));`,
    );
    return { NODE_OPTIONS: `--import=${path.join(folder, "register.mjs")}` };
  }

  it("runs with sessions in memory when nothing else was set, and says so", async () => {
    const demo = start(withoutDrivers());
    await signIn(demo);
    expect(demo.stdout).toContain(
      "better-sqlite3 cannot be loaded (it is not installed), so nothing is kept when the demo ends.",
    );
    expect(demo.stdout).toMatch(/^Sessions: in this process's memory/m);
  });

  it("says what to install when it was", async () => {
    const { code, stderr } = await start({
      ...withoutDrivers(),
      DEMO_SESSIONS: `sqlite:${path.join(folder, "mine.db")}`,
    }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^DEMO_SESSIONS: .*the package better-sqlite3 isn't installed\. Run `npm install better-sqlite3`/,
    );
    const other = await start({ ...withoutDrivers(), DEMO_SESSIONS: "redis://127.0.0.1" }).ended;
    expect(other.stderr).toMatch(
      /^The package redis is needed and cannot be loaded: it is not installed\. .*`npm rebuild redis`/,
    );
  });

  it.skipIf(!hasRedis)(
    "runs with a server's sessions, whose driver is there, and says what a restart loses",
    async () => {
      const redis = await startRedis();
      try {
        const demo = start({ ...withoutDrivers(), PRESENT: "redis", DEMO_SESSIONS: redis.url });
        await signIn(demo);
        expect(demo.stdout).toMatch(
          /^The package better-sqlite3 cannot be loaded \(it is not installed\), so .* after a restart everybody/,
        );
        expect(demo.stdout).toMatch(/^Sessions: redis:\S+$/m);
      } finally {
        await redis.stop();
      }
    },
  );
});

describe("what the demo cannot use is said in one line", () => {
  it("a folder that is a link", async () => {
    mkdirSync(path.join(folder, "elsewhere"));
    symlinkSync(path.join(folder, "elsewhere"), path.join(folder, NAME));
    await expectRefusal({}, /is not a folder of yours/);
  });

  it.skipIf(process.getuid?.() !== 0)("a folder of another user", async () => {
    mkdirSync(path.join(folder, NAME));
    chownSync(path.join(folder, NAME), 12_345, 12_345);
    await expectRefusal({}, /is not a folder of yours/);
  });

  it("a file that is something else", async () => {
    mkdirSync(path.join(folder, NAME), { mode: 0o700 });
    writeFileSync(path.join(folder, NAME, "demo.db"), "something else entirely".repeat(200));
    await expectRefusal({}, /demo\.db cannot be used \(SQLITE_NOTADB\)\. Delete it, or/);
  });

  it("an SQLite file in a folder that is not there", async () => {
    await expectRefusal(
      { DEMO_SESSIONS: `sqlite:${path.join(folder, "not", "there.db")}` },
      /DEMO_SESSIONS: .*doesn't exist/,
    );
  });

  it.each([
    ["redis://someone:hidden@127.0.0.1", "Redis"],
    ["postgres://someone:hidden@127.0.0.1", "PostgreSQL"],
  ])("a server that is not there, without the password: %s", async (base, name) => {
    const address = `${base}:${await freePort()}`;
    await expectRefusal(
      { DEMO_SESSIONS: address },
      new RegExp(`^DEMO_SESSIONS: ${name} at \\S+ cannot be used: .*ECONNREFUSED`),
    );
  });

  it.each([
    ["redis", /^DEMO_SESSIONS: Redis at \S+ cannot be used: no answer within 2 s\./],
    ["postgres", /^DEMO_SESSIONS: PostgreSQL at \S+ cannot be used: no answer within 2 s\./],
  ])("a %s server that says nothing", async (scheme, message) => {
    const silent = createServer((socket) => socket.on("error", () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = silent.address() as { port: number };
      await expectRefusal(
        { DEMO_SESSIONS: `${scheme}://someone:hidden@127.0.0.1:${port}` },
        message,
      );
    } finally {
      await new Promise((resolve) => silent.close(resolve));
    }
  });

  it.each([
    [
      "redis://someone:hidden@127.0.0.1/sessions",
      /^DEMO_SESSIONS: Redis at \S+ cannot be used: Invalid pathname/,
    ],
    ["sqlite:file:sessions.db", /^DEMO_SESSIONS: .*not an empty string or a URL/],
  ])("an address that is none: %s", async (address, message) => {
    await expectRefusal({ DEMO_SESSIONS: address }, message);
  });

  async function expectRefusal(
    env: Readonly<Record<string, string>>,
    message: RegExp,
  ): Promise<void> {
    const { code, stderr } = await start(env).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("hidden");
  }
});
