import { afterEach, describe, expect, it } from "vitest";
import type { IdpAuthOptions } from "../../src/index.js";
import { CallbackStates } from "../../src/sessions/callback-states.js";
import { createSealer } from "../../src/sessions/seal.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { optionsFor } from "../support/options-for.js";
import { CROSS, formFor } from "../support/posted-response.js";

let application: Application;
afterEach(() => application.stop());

const [APEX, A, B] = ["apex.example", "a.shop.example", "b.shop.example"];
const SHOPS = [`http://${A}`, `http://${B}`];

async function start(options: Omit<IdpAuthOptions, "clock" | "log"> = {}): Promise<TestUser> {
  application = await startApplication({
    baseUrl: SHOPS,
    callbackOrigin: `http://${APEX}`,
    ...options,
  });
  return application.user();
}

/** Begins a login, and gives the callback's address at the callback origin. */
async function approvedAt(user: TestUser, host: string, query = ""): Promise<URL> {
  const login = await user.get(`/idpauth/login/${query}`, { host });
  return new URL(await application.provider.signInCode(login.location));
}

const at = (user: TestUser, url: URL, options = {}) =>
  user.get(`${url.pathname}${url.search}`, { host: url.host, ...options });

/** A state of an application with the same SECRET_KEY. */
const stateFor = (origin: string, key?: string, callbackOrigin = `http://${APEX}`) =>
  new CallbackStates({
    sealer: createSealer(optionsFor(application.provider).secretKey, []),
    clock: application.clock,
  }).create("r".repeat(43), { origin, key }, callbackOrigin);

const withState = (state: string) =>
  new URL(`http://${APEX}/idpauth/login-callback?code=c&state=${state}`);

const FORMS: Readonly<Record<string, IdpAuthOptions["baseUrl"]>> = {
  "a list": SHOPS,
  "a list with the callback origin": [...SHOPS, `http://${APEX}`],
  "a function": (host) => Promise.resolve(SHOPS.find((shop) => shop === `http://${host}`)),
};

describe.each(Object.entries(FORMS))("with %s", (_name, baseUrl) => {
  it("the callback arrives there and goes on to the login's origin, which signs the user in", async () => {
    const user = await start({ baseUrl });
    for (const host of [A, B]) {
      const callback = await approvedAt(user, host);
      expect(callback.host).toBe(APEX);
      // The callback origin gets none of the cookies.
      const sentOn = await at(user, callback, { headers: { cookie: undefined } });
      expect([sentOn.status, sentOn.setCookies ?? []]).toEqual([303, []]);
      const own = new URL(sentOn.location);
      expect([own.origin, own.pathname]).toEqual([`http://${host}`, "/idpauth/login-callback"]);
      expect(own.search).toBe(callback.search);
      expect((await at(user, own)).status).toBe(302);
      const [exchanged] = application.provider.requestsTo("token").slice(-1);
      expect(exchanged?.params.get("redirect_uri")).toBe(`http://${APEX}/idpauth/login-callback`);
      const session = await user.get("/idpauth/session", { host });
      expect(session.json()).toMatchObject({ authenticated: true });
      user.cookies.clear();
    }
  });

  it("states that it can't open are 400", async () => {
    const user = await start({ baseUrl });
    const { searchParams } = await approvedAt(user, A);
    const good = searchParams.get("state") ?? "";
    const [random = "", ...sealed] = good.split(".");
    const states = [
      "",
      `${random}.`,
      `${"x".repeat(43)}.${sealed.join(".")}`,
      // Not the last letter, of which some bits don't count.
      `${random}.${sealed.join(".").replace(/.(?=.{4}$)/, (one) => (one === "A" ? "B" : "A"))}`,
      `${good}.x`,
      `${good}&state=${good}`,
      stateFor("https://evil.example"),
      stateFor(`https://${A}`),
      stateFor(`http://${A}`, "other"),
      stateFor(`http://${A}`, undefined, `http://${B}`),
      `${good}&code=${"c".repeat(5_000)}`,
    ];
    for (const state of states) {
      const reply = await at(user, withState(state));
      expect([state, reply.status, reply.location]).toEqual([state, 400, ""]);
      expect(reply.setCookies ?? []).toEqual([]);
    }
    expect((await at(user, withState(stateFor(`http://${A}`)))).status).toBe(303);
    application.clock.advance(600_000);
    expect((await at(user, withState(good))).status).toBe(400);
  });

  it("a state that is led to an origin whose browser has no such login is 400 there", async () => {
    const user = await start({ baseUrl });
    const sentOn = await at(user, await approvedAt(user, A));
    const stranger = application.user();
    expect((await at(stranger, new URL(sentOn.location))).status).toBe(400);
    const elsewhere = new URL(sentOn.location.replace(A, B));
    expect((await at(user, elsewhere)).status).toBe(400);
    expect((await at(user, new URL(sentOn.location))).status).toBe(302);
  });
});

it("at the callback origin there is nothing else, unless it is one of the origins", async () => {
  const user = await start();
  for (const path of ["login/", "session", "style.css", "login-callback-x", ""])
    expect((await user.get(`/idpauth/${path}`, { host: APEX })).status).toBe(421);
  await application.stop();
  const both = await start({ baseUrl: [...SHOPS, `http://${APEX}`] });
  const callback = await approvedAt(both, APEX);
  expect(callback.searchParams.get("state")).toMatch(/^[\w-]{43}$/);
  expect((await at(both, callback)).status).toBe(302);
  expect((await both.get("/idpauth/session", { host: APEX })).json()).toMatchObject({
    authenticated: true,
  });
});

it("a posted response is sealed for the login's origin", async () => {
  const user = await start({ responseMode: "form_post", baseUrl: [...SHOPS, `http://${APEX}`] });
  for (const host of [A, APEX]) {
    const { path, fields } = await formFor(user, undefined, host);
    const headers = { ...CROSS, cookie: undefined };
    const posted = await user.post(path, fields, { host: APEX, headers });
    expect([posted.status, posted.setCookies ?? []]).toEqual([303, []]);
    const own = new URL(posted.location, `http://${host}`);
    expect([own.host, [...own.searchParams.keys()]]).toEqual([host, ["response"]]);
    const elsewhere = new URL(own.href.replace(host, B));
    expect((await at(user, elsewhere)).status).toBe(400);
    expect((await at(user, own)).status).toBe(302);
    user.cookies.clear();
  }
});

it("a function that fails at the callback origin is 503, and the login can still finish", async () => {
  let fails = false;
  const user = await start({
    baseUrl(host) {
      if (fails) throw new Error("down");
      return SHOPS.find((shop) => shop === `http://${host}`);
    },
  });
  const login = await user.get("/idpauth/login/", { host: A });
  application.clock.advance(300_000);
  const callback = new URL(await application.provider.signInCode(login.location));
  fails = true;
  expect((await at(user, callback)).status).toBe(503);
  fails = false;
  const sentOn = await at(user, callback);
  expect((await at(user, new URL(sentOn.location))).status).toBe(302);
});

it("a popup's login that fails tells the popup of its own origin", async () => {
  const user = await start();
  const target = `?scheme=PRESERVE_ORIGIN_QP&origin_url=http://${A}/idpauth/popup`;
  const login = await user.get(`/idpauth/login/${target}`, { host: A });
  const state = new URL(login.location).searchParams.get("state") ?? "";
  const denied = new URL(`http://${APEX}/idpauth/login-callback?error=access_denied`);
  denied.searchParams.set("state", state);
  denied.searchParams.set("iss", application.provider.issuer);
  const sentOn = await at(user, denied);
  const { location } = await at(user, new URL(sentOn.location));
  expect(location).toMatch(/^http:\/\/a\.shop\.example\/idpauth\/popup\?outcome=cancelled/);
});

it("each of several providers has its own callback there", async () => {
  application = await startApplication();
  const { clientId, clientSecret, issuer, scope, ...shared } = optionsFor(application.provider);
  const one = { clientId, clientSecret, issuer, scope };
  const { clock } = application;
  const auth = application.another({
    ...shared,
    ...{ clientId: undefined, clientSecret: undefined, issuer: undefined },
    clock,
    baseUrl: SHOPS,
    callbackOrigin: `http://${APEX}`,
    providers: { staff: one, customers: { ...one, clientId: "another" } },
  });
  const user = application.user().at(auth);
  const callback = await approvedAt(user, A, "?provider=staff");
  expect(callback.pathname).toBe("/idpauth/login-callback/staff");
  const atOther = new URL(callback.href.replace("/staff", "/customers"));
  expect((await at(user, atOther)).status).toBe(400);
  const sentOn = await at(user, callback);
  expect(sentOn.location).toMatch(/^http:\/\/a\.shop\.example\/idpauth\/login-callback\/staff\?/);
  expect((await at(user, new URL(sentOn.location))).status).toBe(302);
});
