import { afterEach, describe, expect, it } from "vitest";
import {
  OWN_ORIGIN,
  startApplication,
  type Answer,
  type Application,
  type ApplicationOptions,
} from "../support/application.js";
import { CROSS, formFor } from "../support/posted-response.js";
import { application as app, start as startPlain, store } from "../support/one-application.js";

const CALLBACK = "/idpauth/login-callback";

afterEach(() => app.stop());

/** The only provider, under a key. */
function providerOne({
  provider: { issuer, clientId, clientSecret },
}: {
  provider: Pick<Application["provider"], "issuer" | "clientId" | "clientSecret">;
}) {
  return {
    providers: { one: { issuer, clientId, clientSecret } },
    clientId: undefined,
    clientSecret: undefined,
    issuer: undefined,
  };
}

const start = (options: ApplicationOptions = {}) =>
  startPlain({ responseMode: "form_post", ...options });

/** As a browser posts a form of another site: without the SameSite=Lax cookie. */
const posted = (path: string, fields: Record<string, string>): Promise<Answer> =>
  app.user().post(path, fields, { headers: CROSS });

const codesSpent = () =>
  app.provider.requestsTo("token", { grant_type: "authorization_code" }).length;

describe("a response that the provider's page posts", () => {
  it("signs in by a redirect to the callback, which has nothing of it in the clear", async () => {
    const user = await start();
    const { path, fields } = await formFor(user);
    const operations = store.operations.length;
    const answer = await posted(path, fields);
    expect([answer.status, answer.setCookies ?? [], store.operations.length]).toEqual([
      303,
      [],
      operations,
    ]);
    const next = new URL(answer.location, OWN_ORIGIN);
    expect([next.pathname, [...next.searchParams.keys()]]).toEqual([CALLBACK, ["response"]]);
    for (const value of [fields["code"], fields["state"]]) {
      expect(value).toMatch(/./);
      expect(answer.location).not.toContain(value);
    }
    expect(codesSpent()).toBe(0);
    expect((await user.get(answer.location, { headers: CROSS })).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("of several providers comes to the callback of its own", async () => {
    const one = await startApplication();
    try {
      const user = await start(providerOne(one));
      const { path, fields } = await formFor(user, "/idpauth/login/?provider=one");
      expect(path).toBe(`${CALLBACK}/one`);
      const { location } = await posted(path, fields);
      expect(location).toContain(`${CALLBACK}/one?response=`);
      expect((await user.get(location)).status).toBe(302);
    } finally {
      await one.stop();
    }
  });

  it("that is an error has the same reply as an error in the query", async () => {
    const user = await start();
    const replyTo = async (posts: boolean) => {
      const { path, fields } = await formFor(user);
      const { state = "", iss = "" } = fields;
      const error = { state, iss, error: "access_denied" };
      const target = `${path}?${new URLSearchParams(error).toString()}`;
      const reply = await user.get(posts ? (await posted(path, error)).location : target);
      return [reply.status, reply.location, codesSpent()];
    };
    const explained = [302, "/idpauth/?error=access_denied", 0];
    expect([await replyTo(true), await replyTo(false)]).toEqual([explained, explained]);
  });

  it("may come in the query all the same", async () => {
    const user = await start();
    const { path, fields } = await formFor(user);
    expect((await user.get(`${path}?${new URLSearchParams(fields).toString()}`)).status).toBe(302);
  });

  it.each<[string, (location: string) => string]>([
    ["after ten minutes", (location) => (app.clock.advance(600_000), location)],
    ["with a later expiry", (location) => location.replace(/response=\d/, "response=9")],
    ["with a changed seal", (location) => location.replace(/(response=\d+\.)./, "$1_")],
    ["with nothing in it", (location) => location.replace(/response=.*/, "response=")],
  ])("is refused %s, and spends no code", async (_what, change) => {
    const user = await start();
    const { path, fields } = await formFor(user);
    const { location } = await posted(path, fields);
    expect((await user.get(change(location))).status).toBe(400);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([0, false]);
  });

  it("in another browser is refused, since it has no login with that state", async () => {
    const user = await start();
    const { path, fields } = await formFor(user);
    const { location } = await posted(path, fields);
    const stranger = app.user();
    await stranger.get("/idpauth/login/");
    expect((await stranger.get(location)).status).toBe(400);
    expect(codesSpent()).toBe(0);
    expect((await user.get(location)).status).toBe(302);
  });

  it("that is lost begins the login again until the login would have expired", async () => {
    const user = await start();
    for (const [seconds, status] of [
      [599, 302],
      [601, 400],
    ] as const) {
      const { path, fields } = await formFor(user);
      const { location } = await posted(path, fields);
      await user.at(app.auth).get(location);
      app.clock.advance(seconds * 1000);
      expect((await user.get(location)).status).toBe(status);
    }
  });

  it("twice at once signs in once, as a double click does", async () => {
    const user = await start();
    const { path, fields } = await formFor(user);
    const answers = await Promise.all([posted(path, fields), posted(path, fields)]);
    const replies = await Promise.all(answers.map(({ location }) => user.get(location)));
    expect(replies.map(({ status }) => status)).toEqual([302, 302]);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([1, true]);
  });

  it.each<[string, Record<string, string>]>([
    ["nothing", {}],
    ["fields that the callback doesn't read", { user: '{"name":{}}', access_token: "t" }],
    ["too much", { state: "s", code: "c".repeat(5_000) }],
  ])("with %s is 400", async (_what, fields) => {
    await start();
    const answer = await posted(CALLBACK, fields);
    expect([answer.status, store.operations.length]).toEqual([400, 0]);
  });

  it("has at most 5,000 characters", async () => {
    await start();
    const code = "c".repeat(5_000 - "state=s&code=".length);
    expect((await posted(CALLBACK, { state: "s", code })).status).toBe(303);
    expect((await posted(CALLBACK, { state: "s", code: `${code}c` })).status).toBe(400);
  });

  it("that is no form is 400", async () => {
    await start();
    const headers = { ...CROSS, "content-type": "application/json" };
    const body = '{"state":"s","code":"c"}';
    const answer = await app.user().get(CALLBACK, { method: "POST", headers, body });
    expect([answer.status, store.operations.length]).toEqual([400, 0]);
  });

  it("under a Host header that isn't usable is a page with 400, and an event", async () => {
    await start(
      providerOne({
        provider: { issuer: "https://idp.example", clientId: "c", clientSecret: "s" },
      }),
    );
    const refusals: unknown[] = [];
    app.auth.on("failure", ({ during, reason, provider }) => {
      refusals.push([during, reason, provider]);
    });
    const answer = await app
      .user()
      .post(`${CALLBACK}/one`, { state: "s", code: "c" }, { headers: CROSS, host: "a b" });
    expect([answer.status, answer.headers["Content-Type"]]).toEqual([
      400,
      "text/html; charset=utf-8",
    ]);
    expect(answer.body).toContain("This site can&#39;t be used at this address");
    expect(refusals).toEqual([["callback", "host_invalid", "one"]]);
  });

  it("keeps other fields out of the address", async () => {
    const user = await start();
    const { path, fields } = await formFor(user);
    const short = (await posted(path, fields)).location.length;
    const long = await posted(path, { ...fields, user: "x".repeat(3_000) });
    expect(Math.abs(long.location.length - short)).toBeLessThan(10);
  });

  it("is 405 unless IDP_RESPONSE_MODE is form_post, and `response` means nothing then", async () => {
    const user = await start({ responseMode: "query" });
    const answer = await posted(CALLBACK, { state: "s", code: "c" });
    expect([answer.status, answer.headers["Allow"]]).toEqual([405, "GET"]);
    const { location } = await user.get("/idpauth/login/");
    expect(new URL(location).searchParams.has("response_mode")).toBe(false);
    const callback = await app.provider.signInCode(location);
    expect(
      (await user.get(`${new URL(callback).pathname}${new URL(callback).search}&response=x`))
        .status,
    ).toBe(302);
  });
});
