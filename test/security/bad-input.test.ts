import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createSealer } from "../../src/sessions/seal.js";
import { newCookieValue, storeKeyOf } from "../../src/sessions/cookie.js";
import type { Stored } from "../../src/adapter.js";
import type { IdpRequest, SessionStore } from "../../src/index.js";
import { type Answer } from "../support/application.js";
import { application, start, store, startOver } from "../support/one-application.js";

const ENDPOINTS = [
  "/idpauth/",
  "/idpauth/login/",
  "/idpauth/login-callback",
  "/idpauth/session",
  "/idpauth/logout/",
  "/idpauth/debug",
  "/idpauth/nothing",
];
/** Those that leave a signed-in user signed in, whatever they are sent. */
const HARMLESS = ENDPOINTS.filter((target) => target !== "/idpauth/logout/");

/** Stands in every hostile value, so that an echo is seen whatever is done to the rest. */
const MARK = "zq9MARKq9z";
const HOSTILE: [string, string][] = [
  ["markup", `"><script>${MARK}</script>`],
  ["line breaks", `${MARK}\r\nSet-Cookie: evil=1\r\n\r\n<html>`],
  ["null bytes", `\u0000${MARK}\u0000`],
  ["lone surrogates", `${MARK}\ud800`],
  ["right-to-left marks", `\u202e${MARK}`],
  ["an object's members", `__proto__[${MARK}]`],
  ["a template", `\${${MARK}} {{${MARK}}} <%= ${MARK} %>`],
  ["SQL", `'; DROP TABLE sessions; -- ${MARK}`],
  ["a path", `../../../../etc/passwd/${MARK}`],
  ["a URL", `https://${MARK}.example/`],
  ["much", MARK.repeat(3000)],
];
const PARAMETERS = [
  "scheme",
  "response",
  "origin_url",
  "state",
  "code",
  "error",
  "error_description",
  "iss",
  "slide",
  "details",
  "next",
  "credentials",
  "id_info",
  "__proto__",
];

function expectHarmless(answer: Answer): void {
  // An unknown Sec-Fetch-Mode is no navigation.
  if (answer.status >= 500) expect(answer.json().code).toBe("prefetch_refused");
  const { location: _location, json: _json, ...reply } = answer;
  expect(JSON.stringify(reply).toLowerCase()).not.toContain(MARK.toLowerCase());
  for (const value of [...Object.values(answer.headers), ...(answer.setCookies ?? [])])
    expect(value).not.toMatch(/[\r\n\0]/);
  if (answer.location !== "")
    expect(answer.location).toMatch(/^\/idpauth\/|^http:\/\/127\.0\.0\.1:\d+\/authorize\?/);
}

describe("[ASVS-3.7.2] a hostile query", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  it.each(
    HOSTILE.flatMap(([name, value]) =>
      ENDPOINTS.map((endpoint) => [name, endpoint, value] as const),
    ),
  )(
    "with %s at %s gets a 4xx or the specified fallback, and no echo",
    async (_name, endpoint, value) => {
      for (const parameter of PARAMETERS) {
        expectHarmless(
          await application
            .user()
            .get(`${endpoint}?${parameter}=${encodeURIComponent(wellFormed(value))}`),
        );
        expectHarmless(
          await application
            .user()
            .get(`${endpoint}?${encodeURIComponent(wellFormed(value))}=${parameter}`),
        );
      }
      expectHarmless(
        await application.user().get(`${endpoint}?${value}`, { headers: { accept: "text/html" } }),
      );
      expectHarmless(
        await application
          .user()
          .get(
            `${endpoint}?${PARAMETERS.map((name) => `${name}=${encodeURIComponent(wellFormed(value))}`).join("&")}`,
          ),
      );
    },
  );

  it.each([
    "?",
    "??",
    "?&&&",
    "?=",
    "?=x",
    "?%",
    "?%zz=%zz",
    "?%00=%00",
    "?%ff=%fe",
    "?+=+",
    "?x",
    "?;",
    "?a[]=1&a[b]=2",
    "?#",
    `?${"a=1&".repeat(5000)}`,
    `?${"&".repeat(20_000)}`,
  ])("%j does no harm anywhere", async (query) => {
    for (const endpoint of ENDPOINTS)
      expectHarmless(await application.user().get(`${endpoint}${query}`));
  });

  it("[ASVS-15.3.3] changes no signed-in session", async () => {
    const user = application.user();
    await user.signIn();
    const keys = ["credentials", "id_info", "idp_login_at"] as const;
    const before = await application.auth.readSessionRecord(user.request("/"));
    for (const [, value] of HOSTILE) {
      for (const endpoint of HARMLESS) {
        for (const parameter of PARAMETERS)
          await user.get(`${endpoint}?${parameter}=${encodeURIComponent(wellFormed(value))}`);
      }
      await user.get(`/idpauth/logout/?response=${encodeURIComponent(wellFormed(value))}`);
    }
    const after = await application.auth.readSessionRecord(user.request("/"));
    for (const key of keys) expect(after?.[key]).toEqual(before?.[key]);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[ASVS-3.7.2] hostile headers", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());
  const NAMES = [
    "accept",
    "x-origin-url",
    "sec-purpose",
    "purpose",
    "sec-fetch-mode",
    "host",
    "x-forwarded-host",
    "x-forwarded-proto",
    "forwarded",
    "origin",
    "referer",
    "user-agent",
    "authorization",
    "content-length",
  ];

  it.each(
    HOSTILE.flatMap(([name, value]) =>
      ENDPOINTS.map((endpoint) => [name, endpoint, value] as const),
    ),
  )("with %s at %s do no harm and are not repeated", async (_name, endpoint, value) => {
    for (const header of NAMES) {
      expectHarmless(await application.user().get(endpoint, { headers: { [header]: value } }));
      expectHarmless(
        await application
          .user()
          .get(`${endpoint}?scheme=PRESERVE_ORIGIN_HP&response=json`, {
            headers: { [header]: value },
          })
          .then(withoutAuthorizationUrl),
      );
    }
  });

  it.each([
    "",
    ",",
    ",,,,",
    ";",
    "text/html;q=",
    "text/html;q=abc",
    "text/html;q=-1",
    "text/html;q=2",
    "text/html;q=1e400",
    "text/html;;;q=1",
    "*/*;q=0",
    "text/html, ".repeat(5000),
    "/",
    "text",
  ])("Accept %j is read without trouble", async (accept) => {
    for (const endpoint of ENDPOINTS) {
      const { status } = await application.user().get(endpoint, { headers: { accept } });
      expect(status).toBeLessThan(500);
    }
  });

  it.each([
    "",
    "a b",
    "evil.example/",
    "user@evil.example",
    `${MARK}.example`,
    "x".repeat(5000),
    "[::1",
    "\u0000",
    "a\r\nb",
    "例え.example",
    "%65vil.example",
  ])("Host header %j never gives a 5xx", async (host) => {
    for (const endpoint of ENDPOINTS) {
      const request: IdpRequest = { ...application.user().request(endpoint), host };
      expect((await application.auth.handle(request))?.status).toBeLessThan(500);
    }
  });

  function withoutAuthorizationUrl(answer: Answer): Answer {
    return answer.status === 200 ? { ...answer, body: "" } : answer;
  }
});

describe("[CK-6] a hostile cookie", () => {
  beforeAll(async () => {
    await start();
  });
  afterAll(() => application.stop());

  const WRONG_FORM: [string, string][] = [
    ["empty", "idpauth="],
    ["without a value", "idpauth"],
    ["too short", `idpauth=${"A".repeat(42)}`],
    ["too long", `idpauth=${"A".repeat(44)}`],
    ["of another alphabet", `idpauth=${"+".repeat(43)}`],
    ["quoted", `idpauth="${"A".repeat(43)}"`],
    ["percent-encoded", `idpauth=%41${"A".repeat(42)}`],
    ["with a null byte", `idpauth=${"A".repeat(42)}\u0000`],
    ["8 KB long", `idpauth=${"A".repeat(8192)}`],
    ["of another name", `idpauth2=${"A".repeat(43)}`],
    ["with the name at the end of another", `xidpauth=${"A".repeat(43)}`],
    ["in another letter case", `IDPAUTH=${"A".repeat(43)}`],
    ["within another's value", `x=idpauth=${"A".repeat(43)}`],
    ["of the https name", `__Host-Http-idpauth=${"A".repeat(43)}`],
    ["no cookie at all", ";;;===;"],
    ["markup", `idpauth=<script>${MARK}</script>`],
    ["a path of keys", "idpauth=__proto__"],
  ];

  it.each(WRONG_FORM)(
    "%s is no session, costs no look-up, and is not repeated",
    async (_name, cookie) => {
      const before = store.operations.length;
      for (const endpoint of HARMLESS.filter((target) => target !== "/idpauth/login/")) {
        expectHarmless(await application.user().get(endpoint, { headers: { cookie } }));
      }
      expect((await application.user().get("/idpauth/session", { headers: { cookie } })).body).toBe(
        '{"authenticated":false,"user":null}',
      );
      expect(store.operations.length).toBe(before);
    },
  );

  it("of a wrong form at login is replaced by a fresh one", async () => {
    for (const [, cookie] of WRONG_FORM) {
      const answer = await application.user().get("/idpauth/login/", { headers: { cookie } });
      expect(answer.setCookies?.[0]).toMatch(/^idpauth=[A-Za-z0-9_-]{43};/);
      expect(answer.setCookies?.[0]).not.toContain("A".repeat(43));
    }
  });

  it.each([
    ["before", (planted: string, own: string) => `${planted}; ${own}`],
    ["after", (planted: string, own: string) => `${own}; ${planted}`],
  ])("planted %s the real one changes nothing", async (_name, order) => {
    const user = application.user();
    await user.signIn();
    const own = `idpauth=${user.cookies.get("idpauth") ?? ""}`;
    for (const planted of [
      `idpauth=${"B".repeat(43)}`,
      "idpauth=",
      "idpauth=x",
      `idpauth=${"B".repeat(43)}; idpauth=${"C".repeat(43)}`,
    ]) {
      expect(
        (await user.get("/idpauth/session", { headers: { cookie: order(planted, own) } })).json()
          .authenticated,
      ).toBe(true);
    }
  });

  it("[L8] repeated a hundred times costs at most four look-ups", async () => {
    const cookie = Array.from(
      { length: 100 },
      (_, index) => `idpauth=${String(index).padStart(43, "A")}`,
    ).join("; ");
    const before = store.operations.length;
    expect((await application.user().get("/idpauth/session", { headers: { cookie } })).status).toBe(
      200,
    );
    expect(store.operations.length - before).toBe(4);
  });

  it("with one character changed is no session", async () => {
    const user = application.user();
    await user.signIn();
    const value = user.cookies.get("idpauth") ?? "";
    for (const at of [0, 21, 42]) {
      const changed = `${value.slice(0, at)}${value[at] === "A" ? "B" : "A"}${value.slice(at + 1)}`;
      expect(
        (await user.get("/idpauth/session", { headers: { cookie: `idpauth=${changed}` } })).json()
          .authenticated,
      ).toBe(false);
    }
  });
});

describe("hostile claims", () => {
  beforeAll(async () => {
    await start();
  });
  afterEach(() => {
    application.provider.mutateIdToken = undefined;
    application.provider.userinfoResponse = undefined;
  });
  afterAll(() => application.stop());

  const VALUES: [string, unknown][] = [
    ["a number", 5],
    ["null", null],
    ["true", true],
    ["an array", ["a@example.com"]],
    ["an object", { toString: "x" }],
    ["the empty string", ""],
    ["markup", '"><script>alert(1)</script>'],
    ["line breaks", "a\r\nSet-Cookie: evil=1"],
    ["a null byte", "a\u0000b"],
    ["a lone surrogate", "\ud800"],
    ["20,000 characters", "x".repeat(20_000)],
    ["a script address", "javascript:alert(1)"],
  ];

  it.each(VALUES)(
    "%s in email, name, picture and email_verified signs in, and is data only",
    async (_name, value) => {
      const user = application.user();
      application.provider.mutateIdToken = (draft) => ({
        claims: {
          ...draft.claims,
          email: value,
          name: value,
          picture: value,
          email_verified: value,
        },
      });
      const done = await user.signIn();
      expect([done.status, done.location]).toEqual([302, "/idpauth/"]);
      const shown =
        typeof value === "string" ? (JSON.parse(JSON.stringify(value)) as string) : null;
      expect((await user.get("/idpauth/session")).json()).toMatchObject({
        authenticated: true,
        user: { email: shown, name: shown, picture: shown },
      });
      const page = await user.get("/idpauth/");
      expect(page.status).toBe(200);
      expect(page.body).not.toMatch(/<script|<img|="javascript:/);
      for (const header of Object.values(page.headers)) expect(header).not.toMatch(/[\r\n]/);
    },
  );

  it("[ASVS-15.3.3] claims named like the record's keys or an object's properties change nothing but id_info", async () => {
    const user = application.user();
    application.provider.mutateIdToken = ({ header, claims, sign }) =>
      sign(
        header,
        JSON.stringify({
          ...claims,
          credentials: { token: MARK },
          idp_login_at: 0,
          idp_state: { v: 9 },
          authenticated: false,
        }).replace(/}$/, `,"__proto__":{"email":"${MARK}"},"constructor":1}`),
      );
    await user.signIn();
    const session = await application.auth.readSessionRecord(user.request("/"));
    expect((session?.["credentials"] as { token: string }).token).not.toBe(MARK);
    expect(session?.["idp_login_at"]).toBe(Math.floor(application.clock.now() / 1000));
    expect((await user.get("/idpauth/session")).json().user.email).toBe("ada@example.com");
    expect(({} as Record<string, unknown>)["email"]).toBeUndefined();
  });

  it.each([
    ["a sub that is no string", { sub: 5 }],
    ["an empty sub", { sub: "" }],
    ["a sub of 256 characters", { sub: "x".repeat(256) }],
    ["an exp of 1e300", { exp: 1e300 }],
    ["an exp as text", { exp: "9999999999" }],
    ["a negative exp", { exp: -1 }],
    ["no iat", { iat: undefined }],
  ])("%s is refused with 400", async (_name, claims) => {
    const user = application.user();
    application.provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...claims } });
    expect((await user.signIn()).status).toBe(400);
    expect(await user.isSignedIn()).toBe(false);
  });
});

describe("[S5] a stored record that does not parse is no session", () => {
  const SECRET_KEY = "a secret key of at least 32 bytes";
  const value = newCookieValue();
  const key = storeKeyOf(value);
  const sealer = createSealer(SECRET_KEY, []);
  const good = {
    credentials: {
      token: "t",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: ["openid"],
    },
    id_info: { sub: "x", iss: "i", exp: 4_000_000_000, name: "X" },
    idp_login_at: 1_700_000_000,
    idp_state: { v: 1 },
  };
  let data: Stored["data"];
  const stored: SessionStore = {
    name: "one record",
    get: (asked) =>
      Promise.resolve(
        asked === key ? { data, version: "1", expiresAt: 4_000_000_000, subject: "s" } : undefined,
      ),
    insert: () => Promise.resolve(true),
    replace: () => Promise.resolve(true),
    touch: () => Promise.resolve(true),
    delete: () => Promise.resolve(undefined),
    listBySubject: () => Promise.resolve({ entries: new Map() }),
    listBySid: () => Promise.resolve({ entries: new Map() }),
  };
  beforeAll(async () => {
    await startOver(() => stored, { debug: true });
    // A record is only read by the client that it was made for.
    good.credentials.client_id = application.provider.clientId;
  });
  afterAll(() => application.stop());

  const probe = () => {
    const user = application.user();
    user.cookies.set("idpauth", value);
    return user;
  };
  const sealed = (record: unknown) =>
    sealer.seal(typeof record === "string" ? record : JSON.stringify(record), value, key);

  it("while a good one is one", async () => {
    data = sealed(good);
    expect((await probe().get("/idpauth/session")).json().authenticated).toBe(true);
  });

  it.each<[string, () => Stored["data"]]>([
    ["nothing", () => new Uint8Array()],
    ["noise", () => new Uint8Array(200).fill(7)],
    ["cut short", () => sealed(good).slice(0, -1)],
    [
      "one bit changed",
      () => Uint8Array.from(sealed(good), (byte, index) => (index === 40 ? byte ^ 1 : byte)),
    ],
    [
      "another seal's version",
      () => Uint8Array.from(sealed(good), (byte, index) => (index === 0 ? byte + 1 : byte)),
    ],
    [
      "sealed with another SECRET_KEY",
      () =>
        createSealer("another secret key of 32 bytes !!", []).seal(
          JSON.stringify(good),
          value,
          key,
        ),
    ],
    ["sealed for another session", () => sealer.seal(JSON.stringify(good), newCookieValue(), key)],
    ["moved from another key", () => sealer.seal(JSON.stringify(good), value, storeKeyOf("x"))],
    ["not sealed at all", () => good as unknown as Stored["data"]],
    ["text instead of bytes", () => JSON.stringify(good) as unknown as Stored["data"]],
    ["no JSON", () => sealed("{")],
    ["null", () => sealed("null")],
    ["an array", () => sealed([good])],
    ["no private state", () => sealed({ ...good, idp_state: undefined })],
    ["another format version", () => sealed({ ...good, idp_state: { v: 2 } })],
    ["credentials of the wrong type", () => sealed({ ...good, credentials: "token" })],
    [
      "credentials without a token",
      () => sealed({ ...good, credentials: { ...good.credentials, token: undefined } }),
    ],
    [
      "scopes that are no list",
      () => sealed({ ...good, credentials: { ...good.credentials, scopes: "openid" } }),
    ],
    ["id_info that is no object", () => sealed({ ...good, id_info: "x" })],
    ["a final_redirect that is no text", () => sealed({ ...good, final_redirect: 5 })],
    [
      "logins of the wrong type",
      () => sealed({ ...good, idp_state: { v: 1, logins: [{ state: 5 }] } }),
    ],
    [
      "a hundred logins",
      () => sealed({ ...good, idp_state: { v: 1, logins: Array(100).fill({}) } }),
    ],
  ])("%s", async (_name, make) => {
    data = make();
    const user = probe();
    expect((await user.get("/idpauth/session")).body).toBe('{"authenticated":false,"user":null}');
    expect(await application.auth.readSessionRecord(user.request("/"))).toBeNull();
    expect(await application.auth.getCredentials(user.request("/"))).toBeNull();
    expect(await application.auth.guard(user.request("/"))).toMatchObject({
      kind: "unauthenticated",
      reason: "no_credentials",
    });
    expect((await user.get("/idpauth/")).body).toContain("You are signed out");
    expect((await user.get("/idpauth/debug")).json().session).toBeNull();
    expect((await user.get("/idpauth/login-callback?state=x&code=y")).status).toBe(400);
    expect((await user.get("/idpauth/login/")).status).toBe(302);
    user.cookies.set("idpauth", value);
    expect((await user.get("/idpauth/logout/")).status).toBe(302);
  });

  it("and is logged without any of its content", async () => {
    // The log leaves out what was said ten times in the last minute.
    application.clock.advance(60_000);
    application.log.length = 0;
    data = sealed({ ...good, idp_state: { v: 2, [MARK]: MARK } });
    await probe().get("/idpauth/session");
    expect(application.log.map(({ level, code }) => [level, code])).toEqual([
      ["warn", "session_unreadable"],
    ]);
    expect(JSON.stringify(application.log)).not.toContain(MARK);
    expect(JSON.stringify(application.log)).not.toContain(value);
  });
});

/** What percent-encoding can carry. */
function wellFormed(value: string): string {
  return value.replace(/[\ud800-\udfff]/g, "\ufffd");
}
