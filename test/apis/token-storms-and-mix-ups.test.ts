// Tokens of APIs: no refresh storms, no mixed-up tokens, and remembered refusals.
import { afterEach, describe, expect, it } from "vitest";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
} from "../support/application.js";

let application: Application | undefined;
afterEach(() => application?.stop());

const ROW = { url: "https://orders.internal/", path: "/api/orders/" };
const APIS = {
  orders: { ...ROW, audience: "https://orders.example.com" },
  billing: { url: "https://billing.internal/", audience: "https://billing.example.com" },
  own: { url: "https://own.internal/" },
};

async function signedIn(provider: ApplicationOptions["provider"] = {}) {
  application = await startApplication({ apis: APIS, provider });
  const { auth, clock, provider: running } = application;
  const user = application.user();
  await user.signIn();
  const before = running.requestsTo("token").length;
  const refreshes = () => running.requestsTo("token").length - before;
  const token = (api: string, rejected?: string) =>
    auth.getAccessToken(user.request("/"), { api, rejected });
  return { auth, clock, user, refreshes, token, running };
}

describe("an API that rejects every token", () => {
  it.each(["orders", "own"])(
    "leads to one forced refresh in 60 seconds, however many requests there are (%s)",
    async (api) => {
      const { clock, refreshes, token } = await signedIn();
      const first = await token(api);
      const start = refreshes();
      const second = await Promise.all(Array.from({ length: 50 }, () => token(api, first!)));
      expect(new Set(second).size).toBe(1);
      expect(second[0]).not.toBe(first);
      expect(refreshes() - start).toBe(1);
      for (let call = 0; call < 20; call++) expect(await token(api, second[0]!)).toBe(second[0]);
      expect(refreshes() - start).toBe(1);
      clock.advance(61_000);
      expect(await token(api, second[0]!)).not.toBe(second[0]);
      expect(refreshes() - start).toBe(2);
    },
  );

  it("costs no refresh if the token was another one", async () => {
    const { refreshes, token } = await signedIn();
    const first = await token("orders");
    const start = refreshes();
    for (const other of ["", "stranger", (await token("own"))!])
      expect(await token("orders", other)).toBe(first);
    expect(refreshes() - start).toBe(0);
  });
});

describe("the provider", () => {
  it("gets one request for each call if its tokens have expired when they come", async () => {
    const { refreshes, token } = await signedIn({ accessTokenSeconds: 0 });
    await token("orders").catch(() => undefined);
    expect(refreshes()).toBe(1);
  });

  it("that refuses one API gets the next request after 60 seconds, and the other APIs keep their tokens", async () => {
    const { auth, clock, user, refreshes, token, running } = await signedIn();
    running.fault("token", {
      kind: "status",
      status: 400,
      body: { error: "invalid_target" },
      when: ({ body }) => body.includes("billing"),
    });
    const orders = await token("orders");
    for (let call = 0; call < 5; call++)
      await expect(token("billing")).rejects.toMatchObject({ code: "api_token_refused" });
    expect([refreshes(), await token("orders")]).toEqual([2, orders]);
    clock.advance(61_000);
    await expect(token("billing")).rejects.toMatchObject({ code: "api_token_refused" });
    expect([refreshes(), (await auth.clientState(user.request("/"))).user]).toEqual([
      3,
      expect.anything(),
    ]);
  });
});

describe("two APIs and two users at once", () => {
  it("never share a token", async () => {
    const { auth, token } = await signedIn();
    const other = application!.user();
    await other.signIn();
    const ofOther = (api: string) => auth.getAccessToken(other.request("/"), { api });
    const got = await Promise.all([
      token("orders"),
      ofOther("orders"),
      token("billing"),
      ofOther("billing"),
      token("own"),
      ofOther("own"),
    ]);
    expect(new Set(got).size).toBe(6);
    expect(await Promise.all([token("orders"), ofOther("billing")])).toEqual([got[0], got[3]]);
  });

  it("a logout during the refresh for an API leaves no token", async () => {
    const { token, user, running } = await signedIn();
    const hold = running.hold("token");
    const pending = token("orders").catch((error: unknown) => error);
    await hold.arrived;
    await user.get("/idpauth/logout/", { headers: { "sec-fetch-site": "same-origin" } });
    hold.release();
    expect(await pending).toBeNull();
  });
});
