// A request for an API with the session behind it, without servers: which token it gets, what the
// browser gets without one, and what an operator hears.
import { describe, expect, it } from "vitest";
import type { SessionRequest } from "../../src/access/session-request.js";
import { SessionExchange, type ProxyComponent } from "../../src/apis/session-exchange.js";
import type { Api } from "../../src/config/api-options.js";
import {
  ApiTokenError,
  IdpAuthError,
  ProviderUnavailableError,
  StoreUnavailableError,
} from "../../src/errors.js";
import type { Pages } from "../../src/pages/pages.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { apiRow } from "./api-row.js";
import { unobserved } from "../support/unobserved.js";

const OWN_RULE = { maxAge: 60 };
const PLACE = () => undefined;
const WATCH = { close: () => undefined };
const LOGIN = "/app/idpauth/login/";
const NAVIGATION = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };
const SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };

interface Setting {
  readonly api?: Partial<Api>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly target?: string;
  /** What the guard returns. */
  readonly blocked?: { readonly reply: unknown };
  /** Milliseconds that the guard takes. */
  readonly takes?: number;
  /** What the store has of the session when it is read anew. */
  readonly record?: object | undefined;
  readonly endedBy?: string;
  /** The user's token, or why there is none. */
  readonly token?: string | null | Error;
  readonly message?: object;
  /** The session has no place for another stream. */
  readonly isFull?: boolean;
  /** Nobody tells when the response is complete. */
  readonly isUntold?: boolean;
}

/** An exchange with everything around it, and what it asked for. */
function exchange(setting: Setting = {}) {
  const { headers = SCRIPT, target = "/api/orders/items" } = setting;
  const clock = new TestClock();
  const seen = { shown: [], events: [], lines: [], rules: [], asked: [] } as Record<
    "shown" | "events" | "lines" | "rules" | "asked",
    unknown[]
  >;
  const { shown, events, lines, rules, asked } = seen;
  let reloads = 0;
  const pages = {
    error: async (model: unknown) => (
      shown.push(model),
      { status: 400, headers: {}, body: "page" }
    ),
  } as unknown as Pages;
  const session = {
    read: async () => ({ idp_state: {} }),
    reload: async () => {
      reloads += 1;
      return "record" in setting ? setting.record : {};
    },
    endedBy: setting.endedBy,
    key: "the session's key",
  };
  const request = {
    method: setting.method ?? "GET",
    target,
    header: (name: string) => (headers as Record<string, string>)[name],
  };
  const component = {
    settings: { publicPath: "/app/idpauth/", pathPrefix: "/app" },
    pages,
    owners: { of: () => ({ provider: "staff" }) },
    events: {
      emit: (...event: unknown[]) => void events.push(event),
      log: (line: unknown) => void lines.push(line),
      ...unobserved,
    },
    clock,
    shutdown: {},
    streams: {
      take: (key: unknown) => (taken.push(key), setting.isFull === true ? undefined : PLACE),
    },
    apiToken: async (...given: unknown[]) => {
      asked.push(given);
      if (setting.token instanceof Error) throw setting.token;
      if (setting.token === null) return null;
      return { value: setting.token ?? "token" };
    },
  } as unknown as ProxyComponent;
  const closes: unknown[] = [];
  const taken: unknown[] = [];
  const watches: unknown[] = [];
  const proxied = {
    api: apiRow(setting.api),
    opened: { request, origin: "https://app.example", session } as unknown as SessionRequest,
    client: "192.0.2.7",
    rules: [OWN_RULE],
    guard: async (_opened: unknown, ofPath: unknown) => {
      rules.push(ofPath);
      if (setting.takes !== undefined) await clock.advanceAsync(setting.takes);
      return setting.blocked as never;
    },
    watch: (onEnd: unknown) => (watches.push(onEnd), WATCH),
    onClose:
      setting.isUntold === true ? undefined : (closed: () => void) => void closes.push(closed),
  };
  const made = new SessionExchange(
    proxied,
    { lines: ["a", "b"], message: setting.message as never },
    component,
  );
  return {
    made,
    session,
    component,
    proxied,
    watches,
    clock,
    shown,
    events,
    lines,
    rules,
    asked,
    closes,
    taken,
    reloads: () => reloads,
  };
}

const jsonOf = (reply: unknown) => JSON.parse((reply as { body: string }).body) as unknown;
const statusOf = (reply: unknown) => (reply as { status: number }).status;

describe("the user's token", () => {
  it("is the API's, after the guard with the rules of the path", async () => {
    const rule = { path: "admin/", methods: ["GET"] };
    const api = { rules: [rule, { path: "other/", methods: ["GET"] }] } as never;
    const { made, session, asked, rules, reloads } = exchange({
      api,
      target: "/api/orders/admin/1",
    });
    expect(await made.token()).toEqual({ value: "token" });
    expect(asked).toEqual([[session, "orders", { minValidity: 30, rejected: undefined }]]);
    expect([rules, reloads()]).toEqual([[[rule, OWN_RULE]], 0]);
  });

  it("is nobody's whom the guard blocks", async () => {
    const blocked = { reply: { status: 403 } };
    const { made, asked } = exchange({ blocked, takes: 100, record: undefined });
    expect([await made.token(), asked]).toEqual([blocked.reply, []]);
  });

  it.each([
    [99, 0, "token"],
    [100, 1, 401],
  ])("after a guard that takes %i ms reads the session %i times", async (takes, reads, got) => {
    const { made, reloads, clock } = exchange({ takes, record: undefined });
    await clock.advanceAsync(1_000);
    const token = await made.token();
    expect(["value" in token ? token.value : token.status, reloads()]).toEqual([got, reads]);
  });

  it("is given after a slow guard if the session is still there", async () => {
    const { made, reloads } = exchange({ takes: 5_000 });
    expect([await made.token(), reloads()]).toEqual([{ value: "token" }, 1]);
  });

  it("that was rejected is asked for anew, after a look at the session", async () => {
    const { made, asked, reloads } = exchange();
    expect(await made.tokenAgain("old")).toEqual({ value: "token" });
    expect(asked).toMatchObject([[{}, "orders", { rejected: "old" }]]);
    expect(reloads()).toBe(1);
  });

  it.each([
    ["logged_out_at_provider", "logged_out_at_provider"],
    [undefined, "no_credentials"],
  ])("of a session that has ended (%s) is none", async (endedBy, reason) => {
    const setting = { record: undefined, ...(endedBy !== undefined && { endedBy }) };
    const { made, asked, rules } = exchange(setting);
    expect(jsonOf(await made.tokenAgain())).toMatchObject({ error: "login_required", reason });
    expect([asked, rules]).toEqual([[], []]);
  });

  it("that is missing is a 401, also after one was rejected: nobody gets that one again", async () => {
    const { made } = exchange({ token: null });
    const signedOut = { reason: "no_credentials", login_url: LOGIN };
    expect(jsonOf(await made.token())).toMatchObject(signedOut);
    expect(jsonOf(await made.tokenAgain("old"))).toMatchObject(signedOut);
  });
});

describe("without a token, the browser gets", () => {
  it("503 in an outage, with the login only if it helps", async () => {
    const { made } = exchange({ token: new StoreUnavailableError("away", { retryAfter: 3 }) });
    const reply = await made.token();
    expect(statusOf(reply)).toBe(503);
    expect(jsonOf(reply)).toMatchObject({ code: "store_unavailable" });
    expect(jsonOf(reply)).not.toHaveProperty("login_url");
    const token = new ProviderUnavailableError("http_500", { loginHelps: true });
    expect(jsonOf(await exchange({ token }).made.token())).toMatchObject({
      code: "provider_unavailable",
      detail: expect.stringContaining("didn't renew this session") as string,
      login_url: LOGIN,
    });
  });

  it("a page in an outage, if it navigates", async () => {
    const token = new StoreUnavailableError("away", { retryAfter: 3 });
    const { made, shown } = exchange({ token, headers: NAVIGATION });
    expect(await made.token()).toMatchObject({ body: "page" });
    expect(shown).toMatchObject([{ code: "store_unavailable", retryAfter: 3 }]);
  });

  it("a page that says that nothing was sent, unless the API has answered already", async () => {
    const token = new StoreUnavailableError("away", { retryAfter: 3 });
    const first = exchange({ token, headers: NAVIGATION });
    await first.made.token();
    expect(first.shown).toMatchObject([{ isUnprocessed: true }]);
    const again = exchange({ token, headers: NAVIGATION });
    await again.made.tokenAgain("old");
    expect(again.shown[0]).not.toHaveProperty("isUnprocessed");
  });

  it("the application's own error", async () => {
    const error = new Error("a rule");
    await expect(exchange({ token: error }).made.token()).rejects.toBe(error);
  });

  it("a login that asks for what is missing", async () => {
    const loginUrl = `${LOGIN}?api=orders`;
    const token = new ApiTokenError("api_sign_in_required", "orders", "missing", loginUrl);
    const reply = await exchange({ token }).made.token();
    expect(statusOf(reply)).toBe(401);
    expect(jsonOf(reply)).toEqual({
      authenticated: true,
      error: "insufficient_user_authentication",
      login_url: loginUrl,
    });
  });

  it.each([
    ["api_token_missing", 403, "no_refresh_token"],
    ["api_token_refused", 502, undefined],
  ] as const)("%s with %i and the reason %s", async (code, status, reason) => {
    const token = new ApiTokenError(code, "orders", "no_refresh_token");
    const reply = await exchange({ token }).made.token();
    expect(statusOf(reply)).toBe(status);
    expect((jsonOf(reply) as { reason?: string }).reason).toBe(reason);
  });
});

describe("an API's challenge", () => {
  it("becomes a login with the session's provider and what it demands, without the scope", async () => {
    const { made } = exchange();
    const reply = await made.challenged({
      status: 403,
      error: "insufficient_scope",
      parameters: { scope: "orders:write", max_age: "60" },
    });
    expect(statusOf(reply)).toBe(403);
    expect(jsonOf(reply)).toMatchObject({
      error: "insufficient_scope",
      login_url: `${LOGIN}?provider=staff&max_age=60&api=orders`,
    });
  });
});

describe("a request that isn't passed on", () => {
  it("is a problem document for a script", async () => {
    const headers = { Allow: "GET" };
    const reply = await exchange().made.refused("method_not_allowed", { headers, detail: "No." });
    expect(reply.headers).toMatchObject(headers);
    expect(jsonOf(reply)).toMatchObject({ code: "method_not_allowed", detail: "No." });
  });

  it.each([
    ["cross_origin", "GET", { label: "action.continue", href: "" }],
    ["api_unreachable", "GET", { label: "action.tryAgain", href: "" }],
    ["login_loop", "GET", { label: "action.tryAgain", href: "" }],
    ["not_found", "GET", undefined],
    ["cross_origin", "POST", undefined],
  ] as const)("is a page for a browser: %s of %s", async (code, method, action) => {
    const { made, shown } = exchange({ headers: NAVIGATION, method });
    await made.refused(code);
    expect(shown).toEqual([{ code, action }]);
  });

  it.each([
    ["staff", "cross-site", "cross_origin", false],
    ["staff", "cross-site", "api_unreachable", false],
    ["staff", "same-origin", "api_unreachable", true],
    [undefined, "cross-site", "cross_origin", true],
  ] as const)(
    "by a rule that requires the provider %s, to a link of %s: %s",
    async (provider, site, code, isOffered) => {
      const headers = { ...NAVIGATION, "sec-fetch-site": site };
      const rules = [{ ...(provider !== undefined && { provider }) }];
      const { made, shown } = exchange({ headers, api: { rules } });
      await made.refused(code);
      expect(shown).toMatchObject([{ action: isOffered ? { href: "" } : null }]);
    },
  );
});

describe("an operator hears of", () => {
  const failureOf = (
    code: "api_unreachable" | "api_body_consumed" | "api_redirect_refused",
    cause?: unknown,
  ) => {
    const { made, events } = exchange();
    made.failed(new IdpAuthError(code, "It failed.", { cause }));
    return events[0] as [string, object, { message: string; details: object } | undefined];
  };

  it("a failure of the API, with the driver's code if there is one", () => {
    const about = { during: "api", api: "orders", kind: "outage", reason: "api_unreachable" };
    expect(failureOf("api_unreachable")).toEqual(["failure", about, undefined]);
    const cause = Object.assign(new Error("secret"), { code: "ECONNREFUSED" });
    expect(failureOf("api_unreachable", cause)[1]).toEqual({ ...about, cause: "ECONNREFUSED" });
  });

  it.each([
    ["api_body_consumed", "`auth.proxyApi`"],
    ["api_redirect_refused", "`apis.orders.redirects`"],
  ] as const)("%s with what to do", (code, words) => {
    const [, , line] = failureOf(code);
    expect(line).toMatchObject({ details: { reason: code, api: "orders" } });
    expect(line!.message).toContain(words);
  });

  it("a location that was dropped, and a rule that threw", () => {
    const { made, lines } = exchange();
    made.locationDropped();
    made.threw(new Error("a secret"));
    expect(lines).toMatchObject([
      { code: "api_location_dropped", details: { api: "orders" } },
      { code: "function_threw", details: { api: "orders", function: "allow" } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });
});

describe("a place for a stream", () => {
  function connected(kind: "HTTP/1" | "HTTP/2") {
    const asked: unknown[] = [];
    const socket = {
      destroy: () => undefined,
      setKeepAlive: (...how: unknown[]) => asked.push(how),
    };
    const message =
      kind === "HTTP/1" ? { socket } : { socket, stream: { destroy: () => undefined } };
    return { message, asked };
  }

  it("is the session's, and its browser is asked whether it is still there", () => {
    const { message, asked } = connected("HTTP/1");
    const { made, taken } = exchange({ message });
    expect([made.takeStream(), taken, asked]).toEqual([
      PLACE,
      ["the session's key"],
      [[true, 60_000]],
    ]);
  });

  it("over HTTP/2, or of a server without sockets, asks no browser", () => {
    const { message, asked } = connected("HTTP/2");
    expect(exchange({ message }).made.takeStream()).toBe(PLACE);
    expect(exchange().made.takeStream()).toBe(PLACE);
    expect(exchange({ message: { socket: {} } }).made.takeStream()).toBe(PLACE);
    expect(asked).toEqual([]);
  });

  it("that there isn't asks no browser, either", () => {
    const { message, asked } = connected("HTTP/1");
    expect(exchange({ message, isFull: true }).made.takeStream()).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("isn't taken if nobody would give it back", () => {
    const { made, taken } = exchange({ isUntold: true });
    expect(made.takeStream()!()).toBeUndefined();
    expect(taken).toEqual([]);
  });
});

describe("the connection", () => {
  it.each([
    ["of HTTP/2 is its stream", (end: () => void) => ({ stream: { destroy: end }, socket: {} })],
    ["of HTTP/1 is its socket", (end: () => void) => ({ socket: { destroy: end } })],
  ])("%s", (_which, messageOf) => {
    let ends = 0;
    exchange({ message: messageOf(() => void (ends += 1)) }).made.connection?.destroy();
    expect(ends).toBe(1);
  });

  it("of a server without sockets is left to the end of the stream", () => {
    expect(exchange().made.connection).toBeUndefined();
  });

  it("has the watch over the session, and tells once it is closed", () => {
    const { made, watches, closes } = exchange();
    const closed = () => undefined;
    made.onClose!(closed);
    const onEnd = () => undefined;
    expect([made.watch(onEnd), watches, closes]).toEqual([WATCH, [onEnd], [closed]]);
  });

  it("has what the request and the application say", () => {
    const { made, component, proxied } = exchange();
    expect({ ...made }).toEqual({
      api: proxied.api,
      request: proxied.opened.request,
      lines: ["a", "b"],
      origin: "https://app.example",
      client: "192.0.2.7",
      pathPrefix: "/app",
      clock: component.clock,
      shutdown: component.shutdown,
      onClose: proxied.onClose,
      connection: undefined,
    });
  });
});
