import { afterEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpAuthOptions, IdpRequest, LogEntry } from "../../src/index.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
} from "../support/application.js";

let application: Application | undefined;
afterEach(async () => {
  await application?.stop();
  application = undefined;
});

async function start(options: ApplicationOptions) {
  application = await startApplication(options);
  return application.user();
}

describe("the option pages", () => {
  it("stops the start with every error, with those of the settings", async () => {
    const failure: unknown = await start({
      sessionMaxAge: -1,
      pages: { locale: "xx" as "en", colors: { accent: "red" } },
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(
      (failure as ConfigurationError).findings
        .map(({ code }) => code)
        .filter((code) => code.startsWith("E")),
    ).toEqual(["E006", "E006", "E006"]);
  });

  it("chooses the language of pages and errors by Accept-Language, and puts the colors into the stylesheet", async () => {
    const user = await start({ pages: { locale: "auto", colors: { accent: "#0a5c36" } } });
    const headers = { accept: "text/html", "accept-language": "ja" };
    const index = await user.get("/idpauth/", { headers });
    expect([index.status, index.headers["Content-Language"], index.headers["Vary"]]).toEqual([
      200,
      "ja",
      "Cookie, Accept-Language",
    ]);
    expect(index.body).toContain("ログインしていません");
    const missing = await user.get("/idpauth/nowhere", { headers });
    expect([missing.status, missing.headers["Content-Language"]]).toEqual([404, "ja"]);
    const problem = await user.get("/idpauth/nowhere", {
      headers: { ...headers, accept: "application/json" },
    });
    expect(problem.body).toContain("There is no page at this address");
    expect((await user.get("/idpauth/style.css")).body).toContain("--accent: #0a5c36;");
  });

  it("in an outage, only a browser with a session reads that it may still be signed in", async () => {
    const user = await start({});
    await application!.provider.pause();
    const textOf = async () => {
      const page = await user.get("/idpauth/login/", { headers: { accept: "text/html" } });
      expect(page.status).toBe(503);
      return page.body ?? "";
    };
    const text = await textOf();
    expect(text).toMatch(/<p>Try again in \d+ seconds?\.<\/p>/);
    expect(text).not.toContain("signed in");
    user.cookies.set("idpauth", "A".repeat(43));
    expect(await textOf()).toContain("If you were signed in, you still are. Try again in");
  });

  it("a render that throws leaves the page of idpauth and one log line without its message", async () => {
    const render = () => {
      throw new Error("a secret");
    };
    const user = await start({ pages: { render } });
    expect((await user.get("/idpauth/", { headers: { accept: "text/html" } })).body).toContain(
      "You are signed out",
    );
    const lines = application?.log.filter(({ code }) => code === "function_threw") ?? [];
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "error",
      details: { function: "pages.render", page: "signed-out" },
    });
    expect(JSON.stringify(lines)).not.toContain("a secret");
  });

  it("a render that returns no string is told from one that throws", async () => {
    const render = (() => Promise.reject(new Error("a secret"))) as never;
    const user = await start({ pages: { render } });
    await user.get("/idpauth/", { headers: { accept: "text/html" } });
    const line = application?.log.find(({ code }) => code === "function_threw");
    expect([line?.message, line?.details]).toEqual([
      "`pages.render` didn't return a string.",
      { function: "pages.render", kind: "not_a_string", page: "signed-out" },
    ]);
  });
});

describe("pages.render", () => {
  const ADA = { sub: "ada-1815", name: "Ada", email: "ada@example.com" };
  const USER = { name: "Ada", email: "ada@example.com", picture: null };

  it("gets the user on every page of a signed-in user", async () => {
    const seen: unknown[] = [];
    const user = await start({
      sessionsPage: true,
      pages: { render: ({ kind, code, user }) => void seen.push([kind, code, user]) },
    });
    await user.signIn(undefined, ADA);
    const headers = { accept: "text/html" };
    const blocked = await application!.auth.guard(user.request("/admin", { headers }), {
      allow: () => false,
    });
    expect(blocked?.kind).toBe("forbidden");
    await user.get("/idpauth/sessions", { headers });
    await user.get("/idpauth/", { headers });
    application!.provider.mutateIdToken = ({ claims: { acr: _acr, ...claims } }) => ({ claims });
    const stepUp = await user.approve("/idpauth/login/?acr_values=gold", ADA);
    expect((await user.get(stepUp, { headers })).status).toBe(403);
    const foreign = await user.get("/idpauth/login/", {
      headers: { "sec-fetch-site": "cross-site" },
    });
    const other = new URL(await application!.provider.signInCode(foreign.location, { sub: "x" }));
    await user.get(other.pathname + other.search, { headers });
    expect(seen).toEqual([
      ["error", "forbidden", USER],
      ["sessions", undefined, USER],
      ["signed-in", undefined, USER],
      ["error", "step_up_failed", USER],
      ["other-user", "other_user_signed_in", USER],
    ]);
  });

  it("gets no user on an error page of a signed-out user", async () => {
    const seen: unknown[] = [];
    const user = await start({ pages: { render: ({ user }) => void seen.push(user) } });
    await user.get("/idpauth/nowhere", { headers: { accept: "text/html" } });
    expect(seen).toEqual([undefined]);
  });
});

describe("a callback whose session cookie is lost, because the framework doesn't trust the proxy", () => {
  /** Whose framework has a new session for each request, as without a cookie. */
  async function callback(options: IdpAuthOptions, forwarded?: string): Promise<LogEntry[]> {
    const log: LogEntry[] = [];
    const settings = { ...options, log: (entry: LogEntry) => void log.push(entry) };
    const auth = createIdpAuth(
      {
        env: {},
        secretKey: "a secret key of at least 32 bytes",
        clientId: "client",
        clientSecret: "a client's secret",
        issuer: "https://login.example.com",
        ...settings,
      },
      {
        name: "plain",
        request: (raw: IdpRequest) => raw,
        session: () =>
          ({ get: () => undefined, set() {}, unset() {}, async destroy() {} }) as never,
      },
    );
    await auth.handle({
      method: "GET",
      target: "/idpauth/login-callback?code=c&state=s",
      scheme: "http",
      host: "app.example",
      header: (name) => (name === "x-forwarded-proto" ? forwarded : undefined),
    });
    return log.filter(({ code }) => code === "callback_failed");
  }

  it.each([
    ["host", "https://app.example", undefined, true],
    ["host", undefined, "https", true],
    ["host", "http://app.example", undefined, false],
    ["bundled", "https://app.example", "https", false],
  ] as const)(
    "session %s, BASE_URL %s, X-Forwarded-Proto %s: the log names the cause: %s",
    async (session, baseUrl, forwarded, isNamed) => {
      const [line] = await callback({ session, baseUrl }, forwarded);
      expect(line?.details).toEqual({ reason: "state" });
      expect(line?.message.includes("trust proxy")).toBe(isNamed);
    },
  );
});
