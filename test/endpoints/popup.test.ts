import { afterEach, describe, expect, it } from "vitest";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";

const LOGIN = "/idpauth/login/?response=popup";
const ATTEMPT = "an-attempt_of-0123456789";
const ENDS_AT = `/idpauth/popup?attempt=${ATTEMPT}`;
const HTML = { accept: "text/html" };

let application: Application;

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  application = await startApplication(options);
  return application.user();
}

describe("a login in a popup", () => {
  afterEach(() => application.stop());

  it("goes to the provider, and ends on its own page", async () => {
    const user = await start({ authFinalRedirectUrl: "/home" });
    expect(new URL((await user.get(`${LOGIN}&attempt=${ATTEMPT}`)).location).origin).toBe(
      new URL(application.provider.issuer).origin,
    );
    expect((await user.signIn(`${LOGIN}&attempt=${ATTEMPT}`)).location).toBe(ENDS_AT);
    const page = await user.get(ENDS_AT, { headers: HTML });
    expect(page.status).toBe(200);
    expect(page.body).toContain("You can close this window.");
    expect(page.body).toContain('<script src="/idpauth/popup.js" defer>');
    // For a user whose other window is gone.
    expect(page.body).toContain('href="/home"');
  });

  it("without an attempt, for a link that opens a window", async () => {
    const user = await start();
    expect((await user.signIn(LOGIN)).location).toBe("/idpauth/popup");
  });

  it("needs no scheme, and refuses one, because it returns to its own page", async () => {
    const user = await start();
    for (const query of [
      "scheme=DEFAULT",
      "scheme=PRESERVE_ORIGIN_HP",
      "origin_url=http%3A%2F%2Fapp.example%2Fx",
    ]) {
      const response = await user.get(`${LOGIN}&${query}`);
      expect([response.status, response.json().code]).toEqual([400, "invalid_parameter"]);
    }
    expect(user.cookies.size).toBe(0);
  });

  it.each([
    "attempt=",
    "attempt=short",
    `attempt=${"x".repeat(65)}`,
    "attempt=not%20a%20valid%20attempt",
    `attempt=${ATTEMPT}&attempt=${ATTEMPT}`,
  ])("refuses %s and does not repeat it", async (query) => {
    const user = await start();
    const response = await user.get(`${LOGIN}&${query}`);
    expect(response.status).toBe(400);
    expect(response.body).not.toContain("valid attempt");
  });

  it("passes on the login's other parameters", async () => {
    const user = await start({ loginParams: ["login_hint"] });
    const { location } = await user.get(`${LOGIN}&attempt=${ATTEMPT}&login_hint=ada%40example.com`);
    expect(new URL(location).searchParams.get("login_hint")).toBe("ada@example.com");
  });

  it("in an outage offers the same login again", async () => {
    const user = await start();
    await application.provider.pause();
    const response = await user.get(`${LOGIN}&attempt=${ATTEMPT}`, { headers: HTML });
    expect(response.status).toBe(503);
    expect(response.body).toContain(`href="/idpauth/login/?response=popup&amp;attempt=${ATTEMPT}"`);
  });
});

describe("the page on which it ends", () => {
  afterEach(() => application.stop());

  it("for a signed-out user has no script, and offers the login", async () => {
    const user = await start();
    const page = await user.get(ENDS_AT, { headers: HTML });
    expect(page.body).not.toContain("<script");
    expect(page.headers["Content-Security-Policy"]).not.toContain("script-src");
    expect(page.body).toContain(`href="/idpauth/login/?response=popup&amp;attempt=${ATTEMPT}"`);
  });

  it("for a session that has ended has no script either", async () => {
    const user = await start({ sessionMaxAge: 60 });
    await user.signIn(LOGIN);
    application.clock.advance(61_000);
    expect((await user.get("/idpauth/popup", { headers: HTML })).body).not.toContain("<script");
  });

  it("allows script files of its own origin, and nothing inline", async () => {
    const user = await start();
    await user.signIn(LOGIN);
    const policy = (await user.get("/idpauth/popup", { headers: HTML })).headers[
      "Content-Security-Policy"
    ];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
  });

  it("shows nothing of an attempt that is none", async () => {
    const user = await start();
    await user.signIn(LOGIN);
    const page = await user.get("/idpauth/popup?attempt=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", {
      headers: HTML,
    });
    expect(page.body).not.toContain("alert");
  });

  it("has a script that sends a hint and nothing of the session", async () => {
    const user = await start();
    const { status, headers, body } = await user.get("/idpauth/popup.js");
    expect([status, headers["Content-Type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers["X-Content-Type-Options"]).toBe("nosniff");
    expect(body).not.toMatch(/cookie|token|fetch|opener/);
  });

  it("does not count as activity", async () => {
    const user = await start({ sessionIdleTimeout: 600 });
    await user.signIn(LOGIN);
    application.clock.advance(600_000);
    await user.get("/idpauth/popup");
    application.clock.advance(1_000);
    expect((await user.get("/idpauth/session")).json().authenticated).toBe(false);
  });
});
