import assert from "node:assert/strict";
import { deny, type ClaimsSchema, type JsonObject } from "../../../index.js";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StageOptions } from "../application-starter.js";
import { ACCEPTS_JSON, assertPage, assertProblem, assertRetryAfter, GRACE, probe, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const HOUR = 3_600_000;

/** Gives what the accessors give about the application's own data, and adds a visit. */
const ROUTES: readonly ApplicationRoute[] = [
  {
    kind: "json",
    method: "GET",
    path: "/me",
    async respond([auth], raw) {
      const session = await auth?.getSession(raw);
      const state = await auth?.clientState(raw);
      return { data: (await auth?.getData(raw)) ?? null, inSession: session?.data ?? null, inBrowser: state?.data ?? null };
    },
  },
  {
    kind: "json",
    method: "POST",
    path: "/visits",
    async respond([auth], raw) {
      const updated = await auth?.updateData(raw, (data) => ({ ...data, visits: Number(data["visits"]) + 1 }));
      return { updated: updated ?? null, next: (await auth?.getData(raw)) ?? null };
    },
  },
];

/** A schema that accepts users of a group, as long as `accepts` is true. */
function groupsSchema(accepts: () => boolean | Error): ClaimsSchema<{ groups: unknown[] }> {
  return {
    "~standard": {
      version: 1,
      vendor: "conformance",
      validate(value) {
        const decision = accepts();
        if (decision instanceof Error) throw decision;
        const { groups = [] } = value as { groups?: unknown[] };
        return decision ? { value: { groups } } : { issues: [{ message: "EVIL words", path: ["groups"] }] };
      },
    },
  };
}

export const applicationDataRequirements: readonly AdapterRequirement[] = [
  {
    area: "accessors",
    title: "getSession, getData, updateData and clientState read and write the application's own data of the request's user",
    async check(starter) {
      const app = await starter.start({
        routes: ROUTES,
        options: {
          onSignIn: ({ request }) => ({ data: { visits: 0, from: request.header("x-from") ?? null } }),
          clientData: ({ data }) => ({ visits: data["visits"] }),
        },
      });
      const [browser, other] = [app.browser(), app.browser()];
      assert.deepEqual((await browser.get("/me")).json(), { data: null, inSession: null, inBrowser: null });
      assert.deepEqual((await browser.get("/visits", { method: "POST" })).json(), { updated: null, next: null });
      await browser.navigate(await app.approved(browser), { headers: { "x-from": "a test" } });
      await other.navigate(await app.approved(other, undefined, GRACE));
      for (const visits of [1, 2]) {
        const data = { visits, from: "a test" };
        assert.deepEqual((await browser.get("/visits", { method: "POST" })).json(), { updated: data, next: data });
        assert.deepEqual((await browser.get("/me")).json(), { data, inSession: data, inBrowser: { visits } });
      }
      const data = { visits: 0, from: null };
      assert.deepEqual((await other.get("/me")).json(), { data, inSession: data, inBrowser: { visits: 0 } });
      app.clock.advance(HOUR);
      assert.deepEqual(((await browser.get("/me")).json() as { data: JsonObject }).data["visits"], 2, "a refresh lost the data");
      await browser.get("/idpauth/logout/?response=json");
      assert.deepEqual((await browser.get("/me")).json(), { data: null, inSession: null, inBrowser: null });
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area: "probe",
    title: "with ?details=true the probe has the result of clientData in data; otherwise it has not",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { clientData: ({ user }) => ({ id: user.id }) } });
      const browser = app.browser();
      assert.equal(Object.hasOwn(await probe(browser, "?details=true"), "data"), false);
      await app.signedIn(browser);
      assert.deepEqual((await probe(browser, "?details=true"))["data"], { id: "ada-1815" });
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "callback",
    title: "a user whom onSignIn denies gets 403 with its words as text; the session before stays, and the tokens are revoked",
    core: true,
    check: (starter) =>
      refused(starter, "sign_in_denied", {
        onSignIn: ({ claims }) => (claims.sub === GRACE.sub ? deny("Only <b>staff</b> may sign in.") : undefined),
      }),
  },
  {
    area: "callback",
    title: "a user whose claims the schema does not accept gets 403; the session before stays, and the tokens are revoked",
    core: true,
    async check(starter) {
      let accepts = true;
      await refused(starter, "claims_rejected", { claims: groupsSchema(() => accepts) }, () => (accepts = false));
    },
  },
  {
    area: "callback",
    title: "an onSignIn or a claims schema that fails gets 503; the session before stays, and the tokens are revoked",
    core: true,
    async check(starter) {
      const failed = new Error("EVIL words");
      const failing = [{ onSignIn: () => Promise.reject(failed) }, { claims: groupsSchema(() => failed) }];
      for (const options of failing) {
        const app = await starter.start({ options });
        const browser = app.browser();
        const page = await browser.navigate(await app.approved(browser));
        assertPage(page, 503, "hook_failed", 'href="/idpauth/login/"');
        assertRetryAfter(page);
        const callback = await app.approved(browser);
        assertProblem(await browser.get(callback, { headers: ACCEPTS_JSON }), 503, "hook_failed");
        const exchanges = app.provider.requestsTo("token").length;
        await browser.navigate(callback);
        assert.equal(app.provider.requestsTo("token").length, exchanges, "a code was sent twice");
        assert.deepEqual([await probe(browser), app.caught], [SIGNED_OUT, []]);
        await app.auth.idle();
        assert.equal(app.provider.requestsTo("revoke").length, 2);
        assert.doesNotMatch(page.text + JSON.stringify(app.log), /EVIL/);
      }
    },
  },
  {
    area: "refresh",
    title: "an onRefresh or a claims schema that refuses the user ends the session; one that fails is an outage that keeps the tokens",
    core: true,
    async check(starter) {
      let decision: boolean | Error = true;
      const seen: string[] = [];
      const app = await starter.start({
        options: {
          claims: groupsSchema(() => decision),
          onRefresh() {
            if (decision instanceof Error) throw decision;
            return (data) => ({ ...data, refreshed: true });
          },
        },
        routes: ROUTES,
      });
      app.auth.on("ended", ({ reason }) => seen.push(reason));
      const browser = await app.signedIn();
      decision = new Error("EVIL words");
      app.clock.advance(HOUR);
      assertRetryAfter(await browser.get("/idpauth/session"));
      decision = true;
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1, "the tokens were not kept");
      assert.deepEqual(((await browser.get("/me")).json() as { data: unknown }).data, { refreshed: true });
      decision = false;
      app.clock.advance(HOUR);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assert.deepEqual(seen, ["claims_rejected"]);
    },
  },
];

/** Checks that a second sign-in, of another user, is refused in a browser of a signed-in user and in a new one. */
async function refused(
  starter: ApplicationStarter,
  code: string,
  options: StageOptions["options"],
  begin: () => unknown = () => undefined,
): Promise<void> {
  const app = await starter.start({ options: options ?? {} });
  const before = await app.signedIn();
  begin();
  for (const [browser, state] of [
    [before, SIGNED_IN],
    [app.browser(), SIGNED_OUT],
  ] as const) {
    const callback = await app.approved(browser, undefined, GRACE);
    const page = await browser.navigate(callback);
    assertPage(page, 403, code);
    assert.doesNotMatch(page.text, /<b>|EVIL/);
    if (code === "sign_in_denied") assert.ok(page.text.includes("Only &lt;b&gt;staff&lt;/b&gt; may sign in."), page.text);
    // A signed-in user is led on, as after any login that is done.
    assert.equal((await browser.navigate(callback)).status, browser === before ? 302 : 400, "the login was not used up");
    assertProblem(await browser.get(await app.approved(browser, undefined, GRACE), { headers: ACCEPTS_JSON }), 403, code);
    assert.deepEqual(await probe(browser), state);
  }
  await app.auth.idle();
  assert.equal(app.provider.requestsTo("revoke").length, 4);
}
