import { afterEach, describe, expect, it } from "vitest";
import { OWN_ORIGIN } from "../support/application.js";
import { application, signedIn, store } from "../support/one-application.js";

const LOGIN = "/idpauth/login/";
const CROSS = { "sec-fetch-site": "cross-site", origin: "https://portal.example" };

afterEach(() => application.stop());

describe("[CSRF-3] a form that is posted to the login", () => {
  it("is redirected to the login with its fields, and neither reads nor changes anything", async () => {
    const user = await signedIn();
    const operations = store.operations.length;
    const fields = {
      iss: application.provider.issuer,
      login_hint: "ada & co",
      target_link_uri: `${OWN_ORIGIN}/x`,
    };
    const answer = await user.post(LOGIN, fields, { headers: CROSS });
    expect([answer.status, answer.location]).toEqual([
      303,
      `${LOGIN}?${new URLSearchParams(fields).toString()}`,
    ]);
    expect([answer.setCookies ?? [], answer.body ?? ""]).toEqual([[], ""]);
    expect([store.operations.length, application.provider.requestsTo("authorize").length]).toEqual([
      operations,
      1,
    ]);
  });

  it("of another site begins a login that asks before it replaces a session", async () => {
    const user = await signedIn();
    // A cross-site form brings no SameSite=Lax cookie; the navigation after it does.
    const posted = await application.user().post(LOGIN, {}, { headers: CROSS });
    const login = await user.get(posted.location, { headers: CROSS });
    const { pathname, search } = new URL(
      await application.provider.signInCode(login.location, { sub: "grace-1906" }),
    );
    expect((await user.get(pathname + search)).status).toBe(409);
  });

  it("keeps the query of its address, and a repeated field stays repeated", async () => {
    const user = await signedIn();
    const body = "scheme=DEFAULT&scheme=DEFAULT";
    const headers = { "content-type": "application/x-www-form-urlencoded", ...CROSS };
    const answer = await user.get(`${LOGIN}?max_age=60`, { method: "POST", headers, body });
    expect(answer.location).toBe(`${LOGIN}?max_age=60&${body}`);
    expect((await user.get(answer.location)).status).toBe(400);
  });

  it("without fields is a plain login", async () => {
    const user = await signedIn();
    expect((await user.post(LOGIN, {}, { headers: CROSS })).location).toBe(LOGIN);
  });

  it("never passes on a proof that somebody put into it", async () => {
    const user = await signedIn();
    for (const headers of [CROSS, { "sec-fetch-site": undefined, origin: OWN_ORIGIN }]) {
      const { location } = await user.post(
        LOGIN,
        { form_proof: "forged", a: "1" },
        {
          headers: headers,
        },
      );
      expect(location).not.toContain("forged");
    }
  });

  it.each<[string, string | undefined, string]>([
    ["JSON", "application/json", '{"scheme":"DEFAULT"}'],
    ["no type", undefined, "scheme=DEFAULT"],
    ["too much", "application/x-www-form-urlencoded", `a=${"x".repeat(8_200)}`],
    ["far too much", "application/x-www-form-urlencoded", `a=${"x".repeat(70_000)}`],
  ])("with %s is 400 without an effect", async (_name, type, body) => {
    const user = await signedIn();
    const operations = store.operations.length;
    const answer = await user.get(LOGIN, {
      method: "POST",
      headers: { ...CROSS, "content-type": type },
      body,
    });
    expect([answer.status, answer.json().code]).toEqual([400, "invalid_parameter"]);
    expect(store.operations.length).toBe(operations);
  });

  it("that is refused says why: in the problem document, on the page, and as an event", async () => {
    const user = await signedIn({ pages: { locale: "auto" } });
    const refusals: unknown[] = [];
    application.auth.on("failure", ({ during, reason }) => refusals.push([during, reason]));
    const json = { ...CROSS, "content-type": "application/json" };
    const problem = (await user.post(LOGIN, {}, { headers: json })).json();
    expect(problem.detail).toBe(
      "The login takes a form (application/x-www-form-urlencoded) with at most 8192 characters.",
    );
    expect(problem).not.toHaveProperty("valid_options");
    const german = { ...json, accept: "text/html", "accept-language": "de" };
    const page = await user.post(LOGIN, {}, { headers: german });
    expect(page.body).toContain("Der Parameter form hat keinen gültigen Wert.");
    expect(refusals).toEqual([
      ["login", "invalid_parameter"],
      ["login", "invalid_parameter"],
    ]);
  });

  it("has at most 8,192 characters together with the query", async () => {
    const user = await signedIn();
    const target = `${LOGIN}?a=1`;
    const b = "x".repeat(8_192 - "a=1&b=".length);
    expect((await user.post(target, { b }, { headers: CROSS })).status).toBe(303);
    expect((await user.post(target, { b: `${b}x` }, { headers: CROSS })).status).toBe(400);
  });

  it("works while the store is unavailable", async () => {
    const user = await signedIn();
    store.isDown = true;
    expect((await user.post(LOGIN, { a: "1" }, { headers: CROSS })).status).toBe(303);
  });
});
