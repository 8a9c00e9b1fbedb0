import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import type { SessionStore } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { settled } from "../../src/testing/settled.js";

const LIMIT = 1_000;
const MALLORY = { sub: "mallory", email: "mallory@example.com", name: "Mallory" };

describe.skipIf((await redisForTests()) === undefined)("[ATT-3] the data of a session", () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let store: SessionStore;
  let app: Application;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    client = createClient({ url: server.url, disableOfflineQueue: true });
    client.on("error", () => undefined);
    await client.connect();
    store = redisStore(client);
  });
  afterEach(async () => {
    await app.stop();
    client.destroy();
  });

  async function start(options: ApplicationOptions = {}): Promise<TestUser> {
    app = await startApplication({
      store,
      clock: new TestClock(Date.now()),
      dataLimit: LIMIT,
      ...options,
    });
    const user = app.user();
    await user.signIn();
    return user;
  }

  const keyOf = (user: TestUser) => storeKeyOf(user.cookies.get("idpauth") ?? "");

  it("of a user who exceeds the limit, by a request or by a name at the provider, stays as it is, and no one else notices", async () => {
    const mallory = await start({
      onSignIn: ({ claims }) => ({ data: { name: claims.name ?? null } }),
      provider: { person: MALLORY },
    });
    const key = keyOf(mallory);
    const bodies = [
      // 502 characters, and 1,002 bytes.
      JSON.stringify("é".repeat(LIMIT / 2)),
      // Half of a pair is one character, and six as JSON.
      JSON.stringify("\ud800".repeat(LIMIT / 5)),
      JSON.stringify("\u0000".repeat(LIMIT / 5)),
      JSON.stringify({ ["k".repeat(LIMIT)]: 1 }),
      `${"[".repeat(LIMIT / 4)}${"]".repeat(LIMIT / 4)}`,
      '{"__proto__": {"isAdmin": true}}',
      "1e999",
    ];
    for (const body of bodies) {
      const request = mallory.request("/note", { method: "POST" });
      const change = app.auth.updateData(request, (data) => ({
        ...data,
        note: JSON.parse(body) as unknown,
      }));
      await expect(change, body.slice(0, 40)).rejects.toThrow(TypeError);
    }
    app.provider.mutateIdToken = ({ claims }) => ({
      claims: { ...claims, name: "M".repeat(100_000) },
    });
    app.clock.advance(60_000);
    const refused = await mallory.signIn();
    expect([refused.status, refused.setCookies ?? []]).toEqual([503, []]);
    await settled(app.auth);
    const newest =
      app.provider.issued.findLast(({ kind }) => kind === "refresh_token")?.value ?? "";
    expect(app.provider.isActive(newest)).toBe(false);

    // The earlier session continues.
    expect(keyOf(mallory)).toBe(key);
    expect((await app.auth.getSession(mallory.request("/")))?.data).toEqual({ name: "Mallory" });
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    app.provider.mutateIdToken = undefined;
    const grace = app.user();
    expect((await grace.signIn(undefined, { sub: "grace", name: "Grace" })).status).toBe(302);
    expect((await app.auth.getSession(grace.request("/")))?.data).toEqual({ name: "Grace" });
  });

  it("of a user who redeems one voucher by sixty requests at once, to two processes, has it redeemed once", async () => {
    const user = await start({
      onSignIn: () => ({ data: { vouchers: 1, credit: 0, requests: 0 } }),
    });
    const processes = [app.auth, app.another()];
    const redeem = (data: Record<string, unknown>) => {
      const { vouchers, credit, requests } = data as {
        vouchers: number;
        credit: number;
        requests: number;
      };
      return vouchers > 0
        ? { vouchers: vouchers - 1, credit: credit + 10, requests: requests + 1 }
        : { vouchers, credit, requests: requests + 1 };
    };
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, number) =>
        processes[number % 2]!.updateData(user.request("/redeem", { method: "POST" }), redeem),
      ),
    );
    // A request that loses too many races gets 503, and has changed nothing.
    const answered = results.filter(({ status }) => status === "fulfilled").length;
    expect(answered).toBeGreaterThan(0);
    expect((await app.auth.getSession(user.request("/")))?.data).toEqual({
      vouchers: 0,
      credit: 10,
      requests: answered,
    });
  });

  it("of a user gets no late change of the user who had this browser before, and a change after a logout makes no session", async () => {
    const seen: unknown[] = [];
    const ada = await start({
      onSignIn({ claims, data }) {
        seen.push(data);
        return { data: { of: claims.sub } };
      },
    });
    const [request, key] = [ada.request("/note"), keyOf(ada)];
    // Ada's request has read the session, and waits before its write, while Bob signs in with the
    // same browser.
    let isHeld = true;
    const [arrived, write] = [gate(), gate()];
    const replace = store.replace.bind(store);
    store.replace = async (...args) => {
      if (args[0] === key && isHeld) {
        arrived.open();
        await write.opened;
      }
      return replace(...args);
    };
    const late = app.auth.updateData(request, (data) => ({ ...data, note: "Ada's secret" }));
    await arrived.opened;
    isHeld = false;
    await ada.signIn("/idpauth/login/", { sub: "bob", email: "bob@example.com" });
    write.open();
    expect(await late).toBeNull();
    expect((await app.auth.getSession(ada.request("/")))?.data).toEqual({ of: "bob" });
    expect(seen).toEqual([null, null]);
    // Only the trace of Bob's sign-in.
    expect((await store.get(key))?.data).toBeInstanceOf(Uint8Array);

    const after = [ada.request("/note"), keyOf(ada)] as const;
    await ada.get("/idpauth/logout/");
    expect(await app.auth.updateData(after[0], () => ({ of: "nobody" }))).toBeNull();
    expect(await store.get(after[1])).toBeUndefined();
  });
});

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
