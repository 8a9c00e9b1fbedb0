import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { privateKeys } from "../../src/config/client-key-kinds.js";
import type { SignAssertion } from "../../src/keys/client-keys.js";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";

const HOUR = 3_600_000;
const PROBE = "/idpauth/session";
const LOGIN = "/idpauth/login/";
/** The refreshes of one process at a time. */
const REFRESHES = 10;

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const local = privateKeys.fromCode(privateKey)?.[0];

let run: WatchedRun;

afterEach(async () => {
  service.open();
  await run.finish();
});

/** A key management service that refuses what comes while it is busy. */
const service = {
  limit: Infinity,
  running: 0,
  refused: 0,
  /** Fails the next signatures. */
  failures: 0,
  opened: Promise.resolve(),
  open: (): void => undefined,
  /** Keeps every signature waiting until `open`. */
  hold(): void {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  },
  sign: async (input: Uint8Array, options: Parameters<SignAssertion>[1]) => {
    if (service.failures > 0 || service.running >= service.limit) {
      service.failures = Math.max(0, service.failures - 1);
      service.refused += 1;
      throw new Error("ThrottlingException");
    }
    service.running += 1;
    try {
      await service.opened;
      return await local!.sign(input, options);
    } finally {
      service.running -= 1;
    }
  },
};

async function start(): Promise<void> {
  Object.assign(service, { limit: Infinity, running: 0, refused: 0, failures: 0 });
  run = await startWatchedRun({
    clientSecret: undefined,
    privateKey: { sign: service.sign, kid: local!.kid!, alg: "ES256" },
    pushedRequests: "always",
    refreshConcurrency: REFRESHES,
    provider: { pushedRequests: true, clientJwks: [local!.publicJwk!] },
  });
}

async function signedIn(count: number) {
  const users = Array.from({ length: count }, () => run.user());
  for (const user of users) await user.signIn();
  return users;
}

describe("a key service that throttles", () => {
  it("serves refreshes while strangers start logins: their signatures use at most half", async () => {
    await start();
    const users = await signedIn(REFRESHES);
    run.clock.advance(HOUR);
    service.limit = 2 * REFRESHES;
    service.hold();
    const logins = Array.from({ length: 40 }, () => run.user().get(LOGIN));
    await expect.poll(() => service.running).toBe(REFRESHES);
    const probes = users.map((user) => user.get(PROBE));
    await expect.poll(() => service.running).toBe(2 * REFRESHES);
    service.open();
    for (const { status } of await Promise.all(probes)) expect(status).toBe(200);
    for (const { status } of await Promise.all(logins)) expect(status).toBe(302);
    expect(service.refused).toBe(0);
  });

  it("a refused signature of logins delays neither other logins nor refreshes", async () => {
    await start();
    const [user] = await signedIn(1);
    run.clock.advance(HOUR);
    service.failures = 20;
    for (let login = 0; login < 20; login += 1) {
      const answer = await run.user().get(LOGIN);
      expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "1"]);
    }
    expect((await user!.get(PROBE)).json()).toMatchObject({ authenticated: true });
    expect((await run.user().get(LOGIN)).status).toBe(302);
    // The exchange of a code, which a stranger can invent.
    const stranger = run.user();
    const callback = await stranger.approve();
    service.failures = 1;
    expect((await stranger.get(callback)).status).toBe(503);
    expect((await run.user().signIn()).status).toBe(302);
  });

  it("a refused signature of a refresh delays this session alone, for a second", async () => {
    await start();
    const [user, other] = await signedIn(2);
    run.clock.advance(HOUR);
    service.failures = 1;
    const answer = await user!.get(PROBE);
    expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "1"]);
    expect((await other!.get(PROBE)).json()).toMatchObject({ authenticated: true });
    expect((await user!.get(PROBE)).status).toBe(503);
    expect(service.refused).toBe(1);
    run.clock.advance(1_000);
    expect((await user!.get(PROBE)).json()).toMatchObject({ authenticated: true });
  });

  it("many sessions whose signatures are refused open no back-off of others", async () => {
    await start();
    const users = await signedIn(5);
    run.clock.advance(HOUR);
    service.failures = 4;
    for (const user of users.slice(0, 4)) expect((await user.get(PROBE)).status).toBe(503);
    expect((await users[4]!.get(PROBE)).status).toBe(200);
  });
});
