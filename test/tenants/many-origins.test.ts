import { afterEach, beforeEach, expect, it } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import { providerSource, type IdpRequest, type SourcedProviderOptions } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";

const [ACME, GLOBEX, LOGIN] = ["acme.app.example", "globex.app.example", "login.example"];

let application: Application;
let auth: IdpAuth<IdpRequest>;
let user: TestUser;
let asked: string[];
/** Further options of each customer's provider. */
let further: Pick<SourcedProviderOptions, "responseMode">;

beforeEach(async () => {
  const clock = new TestClock();
  application = await startApplication({ clock, store: memoryStore({ clock }) });
  const { issuer, clientId, clientSecret } = application.provider;
  asked = [];
  further = {};
  auth = application.another({
    ...{ issuer: undefined, clientId: undefined, clientSecret: undefined },
    baseUrl: ["http://*.app.example"],
    callbackOrigin: `http://${LOGIN}`,
    providers: providerSource({
      internalHosts: ["127.0.0.1"],
      find(key) {
        asked.push(key);
        return ["acme", "globex"].includes(key)
          ? { issuer, clientId, clientSecret, ...further }
          : undefined;
      },
    }),
  });
  user = application.user().at(auth);
});
afterEach(() => application.stop());

const provider = ({ host = "" }: IdpRequest) => host.split(".")[0];

it("each customer's users sign in at their subdomain, by way of one redirect URI", async () => {
  for (const host of [ACME, GLOBEX]) {
    const [key] = host.split(".");
    const login = await user.get(`/idpauth/login/?provider=${key}`, { host });
    const callback = new URL(await application.provider.signInCode(login.location));
    expect([callback.host, callback.pathname]).toEqual([LOGIN, `/idpauth/login-callback/${key}`]);
    const target = `${callback.pathname}${callback.search}`;
    const sentOn = await user.get(target, { host: LOGIN, headers: { cookie: undefined } });
    const own = new URL(sentOn.location);
    expect(own.host).toBe(host);
    expect((await user.get(`${own.pathname}${own.search}`, { host })).status).toBe(302);
    expect(await auth.guard(user.request("/", { host }), { provider })).toBeUndefined();
    user.cookies.clear();
  }
});

it("a callback that another customer's address gets is led to nobody", async () => {
  const login = await user.get("/idpauth/login/?provider=acme", { host: ACME });
  const callback = new URL(await application.provider.signInCode(login.location));
  const target = `${callback.pathname}${callback.search}`;
  const atGlobex = target.replace("/acme", "/globex");
  expect((await user.get(atGlobex, { host: LOGIN })).status).toBe(400);
  expect((await user.get(target, { host: GLOBEX })).status).toBe(400);
  expect((await user.get(target, { host: LOGIN })).location).toContain(`http://${ACME}/`);
});

it("a response that the provider signs goes the same way, by the state in the JWT, without asking the source", async () => {
  further = { responseMode: "jwt" };
  application.provider.settings.signedResponses = "required";
  const login = await user.get("/idpauth/login/?provider=acme", { host: ACME });
  const callback = new URL(await application.provider.signInCode(login.location));
  expect([...callback.searchParams.keys()]).toEqual(["response"]);
  asked.length = 0;
  const target = `${callback.pathname}${callback.search}`;
  const sentOn = await user.get(target, { host: LOGIN, headers: { cookie: undefined } });
  expect([sentOn.location, asked]).toEqual([`http://${ACME}${target}`, []]);
  expect((await user.get(target.replace("/acme", "/globex"), { host: LOGIN })).status).toBe(400);
  expect((await user.get(target, { host: GLOBEX })).status).toBe(400);
  expect((await user.get(target, { host: ACME })).status).toBe(302);
  expect(await auth.guard(user.request("/", { host: ACME }), { provider })).toBeUndefined();
});

it("at an unknown host, neither the rule's function nor the source is asked", async () => {
  const request = user.request("/", { host: "acme.evil.example" });
  let isAsked = false;
  const rule = {
    provider() {
      isAsked = true;
      return "acme";
    },
  };
  expect((await auth.guard(request, rule))?.reply.status).toBe(421);
  expect((await user.get("/idpauth/login-callback/acme", { host: "evil.example" })).status).toBe(
    421,
  );
  expect([isAsked, asked]).toEqual([false, []]);
});
