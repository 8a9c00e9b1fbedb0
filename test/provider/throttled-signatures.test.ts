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
  /** Signatures that it makes in each second. */
  perSecond: Infinity,
  second: 0,
  made: 0,
  sign: async (input: Uint8Array, options: Parameters<SignAssertion>[1]) => {
    const second = Math.floor(run.clock.now() / 1_000);
    if (second !== service.second) Object.assign(service, { second, made: 0 });
    const isBusy = service.running >= service.limit || service.made >= service.perSecond;
    if (service.failures > 0 || isBusy) {
      service.failures = Math.max(0, service.failures - 1);
      service.refused += 1;
      throw new Error("ThrottlingException");
    }
    service.running += 1;
    service.made += 1;
    try {
      await service.opened;
      return await local!.sign(input, options);
    } finally {
      service.running -= 1;
    }
  },
};

async function start(): Promise<void> {
  Object.assign(service, {
    limit: Infinity,
    perSecond: Infinity,
    running: 0,
    refused: 0,
    failures: 0,
  });
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

  it("pauses sign-ins after a refused signature, and no refresh; a login in each pause tries again", async () => {
    await start();
    const [user] = await signedIn(1);
    run.clock.advance(HOUR);
    service.failures = 1;
    for (let login = 0; login < 20; login += 1) {
      const answer = await run.user().get(LOGIN);
      expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "1"]);
    }
    expect(service.refused).toBe(1);
    expect((await user!.get(PROBE)).json()).toMatchObject({ authenticated: true });
    run.clock.advance(1_000);
    expect((await run.user().get(LOGIN)).status).toBe(302);
    expect((await run.user().get(LOGIN)).status).toBe(503);
    // Without a refused signature for half a minute, sign-ins take no turns.
    run.clock.advance(30_000);
    for (let login = 0; login < 5; login += 1)
      expect((await run.user().get(LOGIN)).status).toBe(302);
  });

  it("keeps the code of a sign-in whose signature has to wait: the same address succeeds later", async () => {
    await start();
    const user = run.user();
    const callback = await user.approve();
    service.failures = 1;
    expect((await run.user().get(LOGIN)).status).toBe(503);
    expect((await user.get(callback)).status).toBe(503);
    run.clock.advance(1_000);
    expect((await user.get(callback)).status).toBe(302);
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

  it.each([
    ["12 logins at once and then 6 a second", 12],
    ["6 logins a second", 0],
  ])(
    "with 2 signatures a second, under %s, refreshes a user a second: only the first seconds can cost a probe",
    async (_flood, atOnce) => {
      await start();
      const users = await signedIn(30);
      run.clock.advance(HOUR);
      service.perSecond = 2;
      const logins = (count: number) =>
        Promise.all(Array.from({ length: count }, () => run.user().get(LOGIN)));
      await logins(atOnce);
      const refused: number[] = [];
      for (const [second, user] of users.entries()) {
        for (let part = 0; part < 6; part += 1) {
          await logins(1);
          if (part === 3) {
            const { status } = await user.get(PROBE);
            if (status !== 200) refused.push(second);
          }
          run.clock.advance(1_000 / 6);
        }
      }
      expect(refused.every((second) => second < 2)).toBe(true);
      // Those of the first seconds succeed as soon as their own pause is over.
      for (const second of refused) expect((await users[second]!.get(PROBE)).status).toBe(200);
    },
  );
});
