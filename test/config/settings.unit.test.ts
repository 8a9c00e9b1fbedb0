import { randomBytes } from "node:crypto";
import { describe, expect, expectTypeOf, it } from "vitest";
import { FIXED_KEYS } from "../../src/record/stored-form.js";
import {
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingOptions,
  type Settings,
} from "../../src/config/read-settings.js";
import * as kind from "../../src/config/setting-kinds.js";
import type { OriginOfHost } from "../../src/config/setting-options.js";
import { setting, type RowsOfOptions } from "../../src/config/setting-row.js";

const KEY = "an-example-of-a-key-with-32-bytes!";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Nothing to complain about but what the case itself adds. */
const COMPLETE = {
  SECRET_KEY: KEY,
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  IDP_CLIENT_SECRET: "client-secret",
  SCOPE: "openid email profile",
  BASE_URL: "https://app.example",
};

function withEnv(env: Record<string, string | undefined>) {
  return readSettings({}, { ...COMPLETE, ...env });
}

/** Options as JavaScript may give them, whatever the types say. */
function withOptions(options: Record<string, unknown>) {
  return readSettings(options, COMPLETE);
}

function valid(result: ReturnType<typeof readSettings>): Settings {
  expect(result.findings.filter((finding) => finding.severity === "error")).toEqual([]);
  return result.providers[0]!.settings;
}

function codes({ findings }: ReturnType<typeof readSettings>): string[] {
  return findings.map((finding) => finding.code);
}

describe("the table of settings", () => {
  it("has every setting of the specification and of the decisions, under its name in the environment", () => {
    expect(
      Object.fromEntries(Object.entries(SETTINGS).map(([option, row]) => [row.env, option])),
    ).toEqual({
      SECRET_KEY: "secretKey",
      SECRET_KEY_FALLBACKS: "secretKeyFallbacks",
      IDP_PROVIDERS: "providers",
      IDP_DEFAULT_PROVIDER: "defaultProvider",
      IDP_CLIENT_ID: "clientId",
      IDP_CLIENT_SECRET: "clientSecret",
      IDP_PRIVATE_KEY: "privateKey",
      IDP_CERTIFICATE: "certificate",
      IDP_CLIENT_CERTIFICATE: "clientCertificate",
      IDP_CLIENT_CERTIFICATE_KEY: "clientCertificateKey",
      IDP_CLIENT_ASSERTION_AUDIENCE: "clientAssertionAudience",
      IDP_APPLE_TEAM_ID: "appleTeamId",
      IDP_APPLE_KEY_ID: "appleKeyId",
      IDP_ISSUER: "issuer",
      IDP_ALLOWED_TENANTS: "allowedTenants",
      SCOPE: "scope",
      IDP_AUTH_FINAL_REDIRECT_URL: "authFinalRedirectUrl",
      IDP_AUTH_LOGOUT_REDIRECT_URL: "authLogoutRedirectUrl",
      IDP_SESSION_AUTO_REFRESH: "sessionAutoRefresh",
      IDP_SESSION_MAX_AGE: "sessionMaxAge",
      IDP_SESSION_IDLE_TIMEOUT: "sessionIdleTimeout",
      IDP_SESSIONS_NOT_BEFORE: "sessionsNotBefore",
      IDP_SESSION_TTL: "sessionTtl",
      IDP_SESSIONS_PER_USER: "sessionsPerUser",
      IDP_STREAMS_PER_SESSION: "streamsPerSession",
      IDP_TOKEN_REVOKE_ON_LOGOUT: "tokenRevokeOnLogout",
      CREDENTIALS_SESSION_KEY_NAME: "credentialsSessionKeyName",
      STATE_KEY_NAME: "stateKeyName",
      FINAL_REDIRECT_KEY_NAME: "finalRedirectKeyName",
      IDP_DEBUG: "debug",
      BASE_URL: "baseUrl",
      IDP_HTTP_TIMEOUT: "httpTimeout",
      IDP_REFRESH_CONCURRENCY: "refreshConcurrency",
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: "tokenEndpointAuthMethod",
      IDP_DISCOVERY_URL: "discoveryUrl",
      IDP_PROVIDER_METADATA: "providerMetadata",
      IDP_REFRESH_WITHOUT_ID_TOKEN: "refreshWithoutIdToken",
      IDP_USERINFO: "userinfo",
      IDP_CLOCK_TOLERANCE: "clockTolerance",
      IDP_LOGIN_PROMPT: "loginPrompt",
      IDP_AUTHORIZATION_PARAMS: "authorizationParams",
      IDP_PUSHED_REQUESTS: "pushedRequests",
      IDP_REQUEST_AUTH_TIME: "requestAuthTime",
      IDP_LOGIN_PARAMS: "loginParams",
      IDP_HOOK_TIMEOUT: "hookTimeout",
      IDP_DATA_LIMIT: "dataLimit",
      IDP_CALLBACK_ORIGIN: "callbackOrigin",
      IDP_MOUNT_PATH: "mountPath",
      IDP_PATH_PREFIX: "pathPrefix",
      IDP_COOKIE_NAME: "cookieName",
      IDP_TRUST_PROXY: "trustProxy",
      IDP_TRUSTED_AUDIENCES: "trustedAudiences",
      IDP_ID_TOKEN_SIGNED_RESPONSE_ALG: "idTokenSignedResponseAlg",
      IDP_RESPONSE_MODE: "responseMode",
      IDP_SIGNED_REQUESTS: "signedRequests",
      IDP_DPOP: "dpop",
      IDP_FAPI: "fapi",
      IDP_LOGOUT_AT_PROVIDER: "logoutAtProvider",
      IDP_BACKCHANNEL_LOGOUT: "backchannelLogout",
      IDP_FRONTCHANNEL_LOGOUT: "frontchannelLogout",
      IDP_SESSIONS_PAGE: "sessionsPage",
      IDP_EVENTS: "events",
    });
  });

  it("names the secrets and the required ones", () => {
    const rows = Object.entries(SETTINGS);
    expect(rows.filter(([, row]) => row.secret).map(([option]) => option)).toEqual([
      "secretKey",
      "secretKeyFallbacks",
      "clientSecret",
      "privateKey",
      "clientCertificateKey",
    ]);
    expect(rows.filter(([, row]) => row.required).map(([option]) => option)).toEqual([
      "secretKey",
      "clientId",
      "clientSecret",
    ]);
  });

  it("gives each setting its type", () => {
    expectTypeOf<Settings["secretKey"]>().toEqualTypeOf<string>();
    expectTypeOf<Settings["scope"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Settings["scopeIsDefault"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Settings["sessionMaxAge"]>().toEqualTypeOf<number | null>();
    expectTypeOf<Settings["sessionTtl"]>().toEqualTypeOf<number>();
    expectTypeOf<Settings["mountPath"]>().toEqualTypeOf<string>();
    expectTypeOf<Settings["tokenEndpointAuthMethod"]>().toEqualTypeOf<
      | "client_secret_post"
      | "client_secret_basic"
      | "tls_client_auth"
      | "self_signed_tls_client_auth"
    >();
    expectTypeOf<SettingOptions["scope"]>().toEqualTypeOf<readonly string[] | string | undefined>();
    expectTypeOf<Settings["sessionsNotBefore"]>().toEqualTypeOf<number | null>();
    expectTypeOf<SettingOptions["sessionsNotBefore"]>().toEqualTypeOf<
      number | string | null | undefined
    >();
    expectTypeOf<SettingOptions["debug"]>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<SettingOptions["baseUrl"]>().toEqualTypeOf<
      string | readonly string[] | OriginOfHost | null | undefined
    >();
    expectTypeOf<keyof SettingOptions>().toEqualTypeOf<SettingName>();
  });

  it("an option without a row and a row without an option don't compile", () => {
    const { debug, ...rows } = SETTINGS;
    // @ts-expect-error -- the option `debug` has no row
    const incomplete: RowsOfOptions = rows as Omit<RowsOfOptions, "debug">;
    const row = setting(kind.boolean, false);
    const known = { debug: row } satisfies Partial<RowsOfOptions>;
    // @ts-expect-error -- there is no option `debugging`
    const unknown = { debugging: row } satisfies Partial<RowsOfOptions>;
    expect([incomplete, debug.env, known.debug, unknown.debugging]).toEqual([
      rows,
      "IDP_DEBUG",
      row,
      row,
    ]);
  });

  it("a row that says nothing about several providers, or reads other values than its option, doesn't compile", () => {
    const shared = setting(kind.boolean, false);
    const own = setting(kind.boolean, false, { per: "own" });
    const rows = [
      { backchannelLogout: own } satisfies Partial<RowsOfOptions>,
      // @ts-expect-error -- each provider can have its own `backchannelLogout`
      { backchannelLogout: shared } satisfies Partial<RowsOfOptions>,
      // @ts-expect-error -- all providers share one `debug`
      { debug: own } satisfies Partial<RowsOfOptions>,
      // @ts-expect-error -- the option is a boolean
      { debug: setting(kind.text, "off") } satisfies Partial<RowsOfOptions>,
      // @ts-expect-error -- the option can't be null
      { debug: setting(kind.boolean, null) } satisfies Partial<RowsOfOptions>,
      // @ts-expect-error -- the option can be null
      { baseUrl: setting(kind.origin, "https://app.example") } satisfies Partial<RowsOfOptions>,
    ];
    expect(rows).toHaveLength(6);
  });
});

describe("defaults", () => {
  const required = {
    SECRET_KEY: KEY,
    IDP_CLIENT_ID: "client.apps.googleusercontent.com",
    IDP_CLIENT_SECRET: "client-secret",
  };

  it("are those of the specification and the decisions", () => {
    expect(valid(readSettings({}, required))).toEqual({
      secretKey: KEY,
      secretKeyFallbacks: [],
      providers: null,
      defaultProvider: null,
      clientId: "client.apps.googleusercontent.com",
      clientSecret: "client-secret",
      privateKey: null,
      certificate: null,
      clientCertificate: null,
      clientCertificateKey: null,
      clientAssertionAudience: null,
      appleTeamId: null,
      appleKeyId: null,
      issuer: "https://accounts.google.com",
      allowedTenants: null,
      scope: ["openid", "email", "profile"],
      scopeIsDefault: true,
      hookTimeout: 5,
      callbackOrigin: null,
      dataLimit: 4096,
      publicPath: "/idpauth/",
      authFinalRedirectUrl: null,
      authLogoutRedirectUrl: null,
      sessionAutoRefresh: true,
      sessionMaxAge: null,
      sessionIdleTimeout: null,
      sessionsNotBefore: null,
      sessionTtl: 14 * 24 * 60 * 60,
      sessionsPerUser: 100,
      tokenRevokeOnLogout: true,
      credentialsSessionKeyName: "credentials",
      stateKeyName: "oauth_state",
      streamsPerSession: 64,
      finalRedirectKeyName: "final_redirect",
      debug: false,
      baseUrl: null,
      httpTimeout: 5,
      refreshConcurrency: 20,
      tokenEndpointAuthMethod: "client_secret_post",
      discoveryUrl: null,
      providerMetadata: {},
      refreshWithoutIdToken: "userinfo",
      userinfo: "when-needed",
      clockTolerance: 5,
      loginPrompt: null,
      authorizationParams: {},
      pushedRequests: "when-required",
      requestAuthTime: null,
      loginParams: [],
      mountPath: "/idpauth/",
      pathPrefix: "",
      cookieName: null,
      trustProxy: false,
      trustedAudiences: [],
      idTokenSignedResponseAlg: null,
      responseMode: "query",
      signedRequests: "when-required",
      dpop: false,
      fapi: null,
      logoutAtProvider: false,
      backchannelLogout: false,
      frontchannelLogout: false,
      sessionsPage: false,
      events: false,
    });
  });

  it.each([
    ["no maximum age", undefined, 1_209_600],
    ["a maximum age below 13 days", "28800", 1_209_600],
    ["a maximum age of 13 days and a second", String(13 * 86_400 + 1), 14 * 86_400 + 1],
    ["a maximum age of 30 days", String(30 * 86_400), 31 * 86_400],
  ])(
    "a record lives 14 days, or the maximum age plus a day when that is longer: %s",
    (_name, maxAge, ttl) => {
      expect(valid(withEnv({ IDP_SESSION_MAX_AGE: maxAge })).sessionTtl).toBe(ttl);
    },
  );

  it("a set IDP_SESSION_TTL is kept, for any maximum age", () => {
    expect(
      valid(withEnv({ IDP_SESSION_TTL: "60", IDP_SESSION_MAX_AGE: "2592000" })).sessionTtl,
    ).toBe(60);
  });

  it("the environment's unknown names are none of our business", () => {
    expect(codes(withEnv({ DEBUG: "*", NODE_ENV: "production", IDP_UNKNOWN: "1" }))).toEqual([]);
    expect(valid(withEnv({ DEBUG: "*", NODE_ENV: "development" })).debug).toBe(false);
  });
});

describe("the environment", () => {
  it.each([
    ...["true", "TRUE", "True", "1", "yes", "YES", "on", "On", " true "].map(
      (text) => [text, true] as const,
    ),
    ...["false", "FALSE", "0", "no", "No", "off", "OFF", "\toff\n"].map(
      (text) => [text, false] as const,
    ),
  ])("boolean %j is %j", (text, value) => {
    const { sessionAutoRefresh, tokenRevokeOnLogout, debug, trustProxy } = valid(
      withEnv({
        IDP_SESSION_AUTO_REFRESH: text,
        IDP_TOKEN_REVOKE_ON_LOGOUT: text,
        IDP_DEBUG: text,
        IDP_TRUST_PROXY: text,
      }),
    );
    expect([sessionAutoRefresh, tokenRevokeOnLogout, debug, trustProxy]).toEqual([
      value,
      value,
      value,
      value,
    ]);
  });

  it.each(["", " ", "\t", "None", "none", "NONE", "null", "Null", "NULL", " none "])(
    "%j means unset, for every setting that is no secret",
    (text) => {
      const secrets = Object.values(SETTINGS).filter((row) => row.secret);
      const plain = Object.values(SETTINGS).filter(
        (row) => !row.secret && row.env !== "IDP_CLIENT_ID",
      );
      const env = {
        SECRET_KEY: KEY,
        IDP_CLIENT_ID: "client.apps.googleusercontent.com",
        IDP_CLIENT_SECRET: "client-secret",
      };
      expect(secrets).toHaveLength(5);
      expect(
        readSettings({}, { ...env, ...Object.fromEntries(plain.map((row) => [row.env, text])) }),
      ).toEqual(readSettings({}, env));
      expect(codes(withEnv({ IDP_CLIENT_ID: text }))).toEqual(["E003"]);
    },
  );

  it.each(["null", "None", "NULL"])("a secret that says %j is taken to the letter", (text) => {
    const settings = valid(
      withEnv({ SECRET_KEY: text, IDP_CLIENT_SECRET: text, SECRET_KEY_FALLBACKS: text }),
    );
    expect([settings.secretKey, settings.clientSecret, settings.secretKeyFallbacks]).toEqual([
      text,
      text,
      [text],
    ]);
  });

  it("white space around a value does not count, except in a secret", () => {
    const settings = valid(
      withEnv({
        IDP_CLIENT_ID: " client.apps.googleusercontent.com ",
        IDP_CLIENT_SECRET: " secret ",
        BASE_URL: " https://app.example\n",
      }),
    );
    expect([settings.clientId, settings.clientSecret, settings.baseUrl]).toEqual([
      "client.apps.googleusercontent.com",
      " secret ",
      "https://app.example",
    ]);
  });

  it.each([
    ["openid email", ["openid", "email"]],
    ["openid,email", ["openid", "email"]],
    [" openid ,, email,\tprofile ", ["openid", "email", "profile"]],
    [
      "openid https://www.googleapis.com/auth/drive.readonly",
      ["openid", "https://www.googleapis.com/auth/drive.readonly"],
    ],
  ])("SCOPE %j is separated by spaces or commas", (text, scope) => {
    const settings = valid(withEnv({ SCOPE: text }));
    expect([settings.scope, settings.scopeIsDefault]).toEqual([scope, false]);
  });

  it.each([undefined, "", " ", ",", " , ,", "none", "null"])(
    "SCOPE %j is not defined: E004, set to `openid email profile`",
    (text) => {
      const result = withEnv({ SCOPE: text });
      expect(result.findings).toMatchObject([{ code: "E004", severity: "warning" }]);
      expect([valid(result).scope, valid(result).scopeIsDefault]).toEqual([
        ["openid", "email", "profile"],
        true,
      ]);
    },
  );

  it("SECRET_KEY_FALLBACKS are separated by white space, and by nothing else", () => {
    expect(
      valid(withEnv({ SECRET_KEY_FALLBACKS: " one,1 \n two;2\tthree " })).secretKeyFallbacks,
    ).toEqual(["one,1", "two;2", "three"]);
  });

  it("lists of hostnames and audiences are separated by spaces or commas; hostnames are lower-cased", () => {
    const settings = valid(withEnv({ IDP_TRUSTED_AUDIENCES: "api other,third" }));
    expect(settings.trustedAudiences).toEqual(["api", "other", "third"]);
  });

  it.each([
    ["IDP_SESSION_MAX_AGE", "28800", "sessionMaxAge", 28_800],
    ["IDP_SESSION_MAX_AGE", "0", "sessionMaxAge", 0],
    ["IDP_SESSION_IDLE_TIMEOUT", "007", "sessionIdleTimeout", 7],
    ["IDP_HTTP_TIMEOUT", "0.5", "httpTimeout", 0.5],
    ["IDP_HTTP_TIMEOUT", "10", "httpTimeout", 10],
    [
      "IDP_TOKEN_ENDPOINT_AUTH_METHOD",
      "client_secret_basic",
      "tokenEndpointAuthMethod",
      "client_secret_basic",
    ],
    ["IDP_REFRESH_WITHOUT_ID_TOKEN", "refuse", "refreshWithoutIdToken", "refuse"],
    ["IDP_USERINFO", "always", "userinfo", "always"],
    ["IDP_CLOCK_TOLERANCE", "0", "clockTolerance", 0],
    ["IDP_CLOCK_TOLERANCE", "300", "clockTolerance", 300],
    ["IDP_LOGIN_PROMPT", "login", "loginPrompt", "login"],
    ["IDP_LOGIN_PROMPT", "select_account  consent", "loginPrompt", "select_account consent"],
    ["IDP_MOUNT_PATH", "auth", "mountPath", "/auth/"],
    ["IDP_MOUNT_PATH", "/auth", "mountPath", "/auth/"],
    ["IDP_MOUNT_PATH", "auth/", "mountPath", "/auth/"],
    ["IDP_MOUNT_PATH", "/a/b-c_d.e~f/", "mountPath", "/a/b-c_d.e~f/"],
    ["IDP_PATH_PREFIX", "portal", "pathPrefix", "/portal"],
    ["IDP_PATH_PREFIX", "/portal/eu/", "pathPrefix", "/portal/eu"],
    ["IDP_PATH_PREFIX", "/", "pathPrefix", ""],
    ["IDP_LOGOUT_AT_PROVIDER", "ON", "logoutAtProvider", true],
    ["IDP_LOGOUT_AT_PROVIDER", "0", "logoutAtProvider", false],
    ["IDP_LOGOUT_AT_PROVIDER", "none", "logoutAtProvider", false],
    ["IDP_LOGOUT_AT_PROVIDER", "Auth0", "logoutAtProvider", "auth0"],
    ["IDP_BACKCHANNEL_LOGOUT", "on", "backchannelLogout", true],
    ["IDP_COOKIE_NAME", "__Host-app", "cookieName", "__Host-app"],
    ["IDP_COOKIE_NAME", "!#$%&'*+-.^_`|~1aZ", "cookieName", "!#$%&'*+-.^_`|~1aZ"],
    // What vitest puts into the environment of every test.
    ["BASE_URL", "/", "baseUrl", null],
    ["BASE_URL", "https://app.example/", "baseUrl", "https://app.example"],
    ["BASE_URL", "HTTPS://App.Example:443", "baseUrl", "https://app.example"],
    ["BASE_URL", "https://app.example:8443", "baseUrl", "https://app.example:8443"],
    ["BASE_URL", "http://localhost:3000", "baseUrl", "http://localhost:3000"],
    ["BASE_URL", "http://[::1]:3000", "baseUrl", "http://[::1]:3000"],
    ["IDP_ISSUER", "https://login.example/tenant/", "issuer", "https://login.example/tenant/"],
    ["IDP_ISSUER", "https://Login.example", "issuer", "https://Login.example"],
    [
      "IDP_AUTH_FINAL_REDIRECT_URL",
      "https://elsewhere.example/?a=b#c",
      "authFinalRedirectUrl",
      "https://elsewhere.example/?a=b#c",
    ],
    ["IDP_AUTH_LOGOUT_REDIRECT_URL", "/bye?x=1", "authLogoutRedirectUrl", "/bye?x=1"],
    [
      "CREDENTIALS_SESSION_KEY_NAME",
      "google_credentials",
      "credentialsSessionKeyName",
      "google_credentials",
    ],
  ] as const)("%s=%s is read as it is meant", (env, text, option, value) => {
    expect(valid(withEnv({ [env]: text }))[option]).toBe(value);
  });
});

it("IDP_PROVIDER_METADATA is JSON in the environment, an object in code", () => {
  const endpoints = { userinfo_endpoint: "https://idp.example/me" };
  expect(
    valid(withEnv({ IDP_PROVIDER_METADATA: JSON.stringify(endpoints) })).providerMetadata,
  ).toEqual(endpoints);
  expect(
    valid(
      readSettings(
        { providerMetadata: endpoints },
        {
          SECRET_KEY: KEY,
          IDP_CLIENT_ID: "client.apps.googleusercontent.com",
          IDP_CLIENT_SECRET: "s",
        },
      ),
    ).providerMetadata,
  ).toEqual(endpoints);
});

it.each(["auth0", true, false] as const)(
  "logoutAtProvider may be %j in code",
  (logoutAtProvider) => {
    const settings = valid(readSettings({ logoutAtProvider }, COMPLETE));
    expectTypeOf(settings.logoutAtProvider).toEqualTypeOf<boolean | "auth0">();
    expect(settings.logoutAtProvider).toBe(logoutAtProvider);
  },
);

describe("IDP_SESSIONS_NOT_BEFORE", () => {
  const NOON = Date.UTC(2026, 10, 22, 12) / 1000;

  it.each([
    ["2026-11-22T12:00:00Z", NOON],
    ["2026-11-22T12:00Z", NOON],
    ["2026-11-22t12:00:00z", NOON],
    ["2026-11-22T13:30:00+01:30", NOON],
    ["2026-11-22T12:00:00.001Z", NOON + 1],
    ["2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29) / 1000],
  ])("%s is read as epoch seconds, in the environment and in code", (text, seconds) => {
    expect(valid(withEnv({ IDP_SESSIONS_NOT_BEFORE: text })).sessionsNotBefore).toBe(seconds);
    expect(valid(withOptions({ sessionsNotBefore: text })).sessionsNotBefore).toBe(seconds);
    expect(valid(withOptions({ sessionsNotBefore: seconds })).sessionsNotBefore).toBe(seconds);
  });

  it("in the future is E022, because every sign-in would loop", () => {
    const at = (now: number) => codes(readSettings({ sessionsNotBefore: NOON }, COMPLETE, { now }));
    expect([at(NOON - 1), at(NOON), at(NOON + 1)].map((found) => found.includes("E022"))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("a value that isn't allowed", () => {
  it.each<[env: string, text: string, got: string]>([
    ["IDP_SESSION_AUTO_REFRESH", "maybe", 'a string ("maybe")'],
    ["IDP_SESSION_AUTO_REFRESH", "2", 'a number ("2")'],
    ["IDP_DEBUG", "*", 'a string ("*")'],
    ["IDP_LOGOUT_AT_PROVIDER", "keycloak", 'a string ("keycloak")'],
    ["IDP_TRUST_PROXY", "truee", 'a string ("truee")'],
    ["IDP_SESSION_MAX_AGE", "-1", 'a negative number ("-1")'],
    ["IDP_SESSION_MAX_AGE", "1.5", 'a fraction ("1.5")'],
    ["IDP_SESSION_MAX_AGE", "8h", 'a string ("8h")'],
    ["IDP_SESSION_MAX_AGE", "1e3", 'a string ("1e3")'],
    ["IDP_SESSION_MAX_AGE", "0x10", 'a string ("0x10")'],
    ["IDP_SESSION_MAX_AGE", "3600 s", 'a string ("3600 s")'],
    ["IDP_SESSION_MAX_AGE", "99999999999999999999", 'a number ("99999999999999999999")'],
    ["IDP_SESSION_IDLE_TIMEOUT", "Infinity", 'a string ("Infinity")'],
    ["IDP_SESSION_TTL", "forever", 'a string ("forever")'],
    ["IDP_SESSIONS_NOT_BEFORE", "2026-11-22", 'a string ("2026-11-22")'],
    ["IDP_SESSIONS_NOT_BEFORE", "2026-11-22T12:00:00", 'a string ("2026-11-22T12:00:00")'],
    ["IDP_SESSIONS_NOT_BEFORE", "2026-02-30T12:00:00Z", 'a string ("2026-02-30T12:00:00Z")'],
    ["IDP_SESSIONS_NOT_BEFORE", "2026-13-01T12:00:00Z", 'a string ("2026-13-01T12:00:00Z")'],
    ["IDP_SESSIONS_NOT_BEFORE", "1969-12-31T23:59:59Z", 'a string ("1969-12-31T23:59:59Z")'],
    [
      "IDP_SESSIONS_NOT_BEFORE",
      "Sun, 22 Nov 2026 12:00:00 GMT",
      'a string ("Sun, 22 Nov 2026 12:00:00 GMT")',
    ],
    ["IDP_SESSIONS_NOT_BEFORE", "1795348800", 'a number ("1795348800")'],
    ["IDP_SESSIONS_PER_USER", "1001", 'a number ("1001")'],
    ["IDP_SESSIONS_PER_USER", "-1", 'a negative number ("-1")'],
    ["IDP_STREAMS_PER_SESSION", "1001", 'a number ("1001")'],
    ["IDP_HTTP_TIMEOUT", "0", 'a number ("0")'],
    ["IDP_HTTP_TIMEOUT", "601", 'a number ("601")'],
    ["IDP_CLOCK_TOLERANCE", "301", 'a number ("301")'],
    ["IDP_CLOCK_TOLERANCE", "1.5", 'a fraction ("1.5")'],
    ["IDP_PROVIDER_METADATA", "[]", 'a string ("[]")'],
    [
      "IDP_PROVIDER_METADATA",
      '{"issuer":"https://x"}',
      'a string ("{\\"issuer\\":\\"https://x\\"}")',
    ],
    [
      "IDP_PROVIDER_METADATA",
      '{"jwks_uri":"file:///x"}',
      'a string ("{\\"jwks_uri\\":\\"file:///x\\"}")',
    ],
    ["IDP_TOKEN_ENDPOINT_AUTH_METHOD", "private_key_jwt", 'a string ("private_key_jwt")'],
    ["IDP_TOKEN_ENDPOINT_AUTH_METHOD", "CLIENT_SECRET_POST", 'a string ("CLIENT_SECRET_POST")'],
    ["IDP_LOGIN_PROMPT", "create", 'a string ("create")'],
    ["IDP_LOGIN_PROMPT", "none login", 'a string ("none login")'],
    ["IDP_LOGIN_PROMPT", "login,consent", 'a string ("login,consent")'],
    ["SCOPE", 'openid "email"', 'a string ("openid \\"email\\"")'],
    ["SCOPE", "openid café", 'a string ("openid café")'],
    ["IDP_AUTH_FINAL_REDIRECT_URL", "javascript:alert(1)", 'a string ("javascript:alert(1)")'],
    ["IDP_AUTH_FINAL_REDIRECT_URL", "//evil.example", 'a string ("//evil.example")'],
    ["IDP_AUTH_LOGOUT_REDIRECT_URL", "/\\evil.example", 'a string ("/\\\\evil.example")'],
    ["IDP_AUTH_LOGOUT_REDIRECT_URL", "bye", 'a string ("bye")'],
    ["BASE_URL", "app.example", 'a string ("app.example")'],
    ["BASE_URL", "https://app.example/path", 'a string ("https://app.example/path")'],
    ["BASE_URL", "https://app.example//", 'a string ("https://app.example//")'],
    ["BASE_URL", "https://app.example/.", 'a string ("https://app.example/.")'],
    ["BASE_URL", "https://app.example?", 'a string ("https://app.example?")'],
    ["BASE_URL", "https://app.example#", 'a string ("https://app.example#")'],
    ["BASE_URL", "https://@app.example", 'a string ("https://***@app.example")'],
    ["BASE_URL", "https://*.example", 'a string ("https://*.example")'],
    ["BASE_URL", "ftp://app.example", 'a string ("ftp://app.example")'],
    ["BASE_URL", "https:app.example", 'a string ("https:app.example")'],
    ["BASE_URL", "https://app.example\\x", 'a string ("https://app.example\\\\x")'],
    ["BASE_URL", "https://app.example:99999", 'a string ("https://app.example:99999")'],
    ["IDP_ISSUER", "login.example", 'a string ("login.example")'],
    ["IDP_ISSUER", "https://login.example?tenant=1", 'a string ("https://login.example?tenant=1")'],
    ["IDP_ISSUER", "https://login.example/#x", 'a string ("https://login.example/#x")'],
    ["IDP_ISSUER", "https://login .example", 'a string ("https://login .example")'],
    ["IDP_MOUNT_PATH", "/", 'a string ("/")'],
    ["IDP_MOUNT_PATH", "//auth", 'a string ("//auth")'],
    ["IDP_MOUNT_PATH", "/a//b", 'a string ("/a//b")'],
    ["IDP_MOUNT_PATH", "/a/../b", 'a string ("/a/../b")'],
    ["IDP_MOUNT_PATH", "/.", 'a string ("/.")'],
    ["IDP_MOUNT_PATH", "/a b", 'a string ("/a b")'],
    ["IDP_MOUNT_PATH", "/a?b", 'a string ("/a?b")'],
    ["IDP_MOUNT_PATH", "/a:id", 'a string ("/a:id")'],
    ["IDP_MOUNT_PATH", "/%61", 'a string ("/%61")'],
    // Browsers keep 4,096 bytes of name and value.
    ["IDP_COOKIE_NAME", "a".repeat(201), `a string ("${"a".repeat(40)}…")`],
    ["IDP_COOKIE_NAME", "my cookie", 'a string ("my cookie")'],
    ["IDP_COOKIE_NAME", "a=b", 'a string ("a=b")'],
    ["IDP_COOKIE_NAME", "a;b", 'a string ("a;b")'],
    ["IDP_COOKIE_NAME", "kéks", 'a string ("kéks")'],
    ["IDP_ALLOWED_TENANTS", "any,any", 'a string ("any,any")'],
    ["IDP_ALLOWED_TENANTS", "ANY", 'a string ("ANY")'],
    ["IDP_ALLOWED_TENANTS", ",", 'a string (",")'],
    ["IDP_ALLOWED_TENANTS", "contoso.onmicrosoft.com", 'a string ("contoso.onmicrosoft.com")'],
    [
      "IDP_ALLOWED_TENANTS",
      "a1111111222243338444555555555555",
      'a string ("a1111111222243338444555555555555")',
    ],
    ["STATE_KEY_NAME", "a\u0000b", 'a string ("a\\u0000b")'],
  ])("%s=%s is E006, which names setting, kind and what is allowed", (env, text, got) => {
    const [option, row] = Object.entries(SETTINGS).find(([, candidate]) => candidate.env === env)!;
    const result = withEnv({ [env]: text });
    expect(result.settings).toBeUndefined();
    expect(result.findings).toMatchObject([
      {
        code: "E006",
        severity: "error",
        message: `${env} (option ${option}) is ${got} in the environment; allowed: ${row.kind.allowed}.`,
      },
    ]);
  });

  it.each(["https://app.example/portal", "https://app.example/portal/?x"])(
    "BASE_URL=%s: a path belongs elsewhere, and the remedy names the place",
    (text) => {
      for (const { findings } of [withEnv({ BASE_URL: text }), withOptions({ baseUrl: text })]) {
        expect(findings).toMatchObject([
          { code: "E006", remedy: expect.stringContaining("IDP_PATH_PREFIX (option pathPrefix)") },
        ]);
      }
    },
  );

  it.each(["https://app.example?x", "app.example/portal", "ftp://app.example/x"])(
    "BASE_URL=%s: no path is spoken of",
    (text) => {
      expect(withEnv({ BASE_URL: text }).findings[0]!.remedy).not.toContain("IDP_PATH_PREFIX");
    },
  );

  it.each<[option: string, value: unknown, got: string]>([
    ["secretKey", 42, "a number"],
    ["secretKey", [KEY], "a list"],
    ["secretKeyFallbacks", KEY, "a string"],
    ["secretKeyFallbacks", [KEY, 7], "a list that holds a number"],
    ["secretKeyFallbacks", [KEY, " "], "a list that holds a blank string"],
    ["secretKeyFallbacks", null, "null"],
    ["clientId", 42, "a number (42)"],
    ["clientSecret", {}, "an object"],
    ["sessionAutoRefresh", "true", 'a string ("true")'],
    ["sessionAutoRefresh", 1, "a number (1)"],
    ["sessionAutoRefresh", null, "null"],
    ["debug", "false", 'a string ("false")'],
    ["logoutAtProvider", "on", 'a string ("on")'],
    ["logoutAtProvider", "Auth0", 'a string ("Auth0")'],
    ["logoutAtProvider", null, "null"],
    ["frontchannelLogout", 1, "a number (1)"],
    ["sessionMaxAge", "3600", 'a string ("3600")'],
    ["sessionMaxAge", -1, "a negative number (-1)"],
    ["sessionMaxAge", 1.5, "a fraction (1.5)"],
    ["sessionMaxAge", NaN, "not a finite number (NaN)"],
    ["sessionMaxAge", Infinity, "not a finite number (Infinity)"],
    ["sessionMaxAge", 3600n, "a bigint"],
    ["sessionMaxAge", new Date(0), "an object"],
    ["sessionTtl", null, "null"],
    ["sessionsNotBefore", new Date(0), "an object"],
    ["sessionsNotBefore", 1.5, "a fraction (1.5)"],
    ["sessionsNotBefore", "yesterday", 'a string ("yesterday")'],
    ["sessionsPerUser", 1.5, "a fraction (1.5)"],
    ["sessionsPerUser", null, "null"],
    ["httpTimeout", 0, "a number (0)"],
    ["scope", ["openid email"], 'a list ("openid email")'],
    ["scope", ["openid", undefined], 'a list that holds undefined ("openid")'],
    ["scope", new Set(["openid"]), "an object"],
    ["scope", null, "null"],
    ["loginPrompt", "", "an empty string"],
    ["loginPrompt", ["login"], 'a list ("login")'],
    ["cookieName", "", "an empty string"],
    ["credentialsSessionKeyName", "", "an empty string"],
    ["credentialsSessionKeyName", " a", 'a string (" a")'],
    ["stateKeyName", null, "null"],
    ["mountPath", () => "/auth/", "a function"],
    ["issuer", " https://login.example", 'a string (" https://login.example")'],
    ["issuer", new URL("https://login.example"), "an object"],
    ["trustedAudiences", [["api"]], "a list that holds a list"],

    ["trustedAudiences", ["api", , "other"], 'a list that holds undefined ("api other")'],
  ])("option %s: %o is E006 in code, where values have their own types", (option, value, got) => {
    const { kind, env, default: fallback } = SETTINGS[option as SettingName];
    const result = withOptions({ [option]: value });
    const allowed = `${kind.allowedInCode ?? kind.allowed}${fallback === null ? "; or null" : ""}`;
    expect(result.settings).toBeUndefined();
    expect(result.findings).toMatchObject([
      {
        code: "E006",
        message: `${env} (option ${option}) is ${got} in code; allowed: ${allowed}.`,
      },
    ]);
  });

  it("is shortened, kept on one line and stripped of what a terminal acts on", () => {
    const [finding] = withEnv({
      IDP_MOUNT_PATH: `/\u001b[31m\u202e\u009b\n${"x".repeat(10_000)}`,
    }).findings;
    expect(finding!.message.length).toBeLessThan(300);
    expect(finding!.message).not.toMatch(/[\p{C}]/u);
    expect(finding!.message).toContain("…");
  });

  it.each(["BASE_URL", "IDP_ISSUER", "IDP_AUTH_FINAL_REDIRECT_URL"])(
    "never shows the password that a URL in %s may hold",
    (env) => {
      const { findings } = withEnv({ [env]: "https://user:hunter2@ho st.example" });
      expect(findings).toMatchObject([{ code: "E006" }]);
      expect(JSON.stringify(findings)).not.toContain("hunter2");
    },
  );

  it.each([
    "https://user:hunter2/x@idp.example",
    "https://user:hunter2?x@idp.example",
    "https://user:hunter2#@idp.example",
    "https:/user:hunter2@idp.example",
    "https:user:hunter2@idp.example",
    "user:hunter2@idp.example",
    "https://user:hunter2 x@idp.example",
    "https://a@b:hunter2@idp.example",
  ])("shows no password where %j was meant to be a URL", (value) => {
    for (const env of ["BASE_URL", "IDP_ISSUER", "IDP_HTTP_TIMEOUT"]) {
      const { findings } = withEnv({ [env]: value });
      expect(findings).toMatchObject([{ code: "E006" }]);
      expect(JSON.stringify(findings)).not.toContain("hunter2");
      expect(JSON.stringify(findings)).toContain("***@idp.example");
    }
  });

  it("never shows a secret's content, for any error in it", () => {
    const content = "hunter2hunter2";
    const wrong: unknown[] = [
      [content],
      { content },
      new Map([[content, content]]),
      [[content]],
      [content, 1],
      () => content,
    ];
    for (const value of wrong) {
      for (const option of ["secretKey", "clientSecret", "secretKeyFallbacks"]) {
        expect(
          JSON.stringify(withOptions({ [option]: value, sessionMaxAge: -1 }).findings),
        ).not.toContain("hunter2");
      }
    }
    expect(
      JSON.stringify(
        readSettings({}, { ...COMPLETE, SECRET_KEY: content, SCOPE: "email" }).findings,
      ),
    ).not.toContain("hunter2");
  });
});

describe("code and environment", () => {
  it("code wins over the environment", () => {
    const env = { ...COMPLETE, IDP_SESSION_MAX_AGE: "60", IDP_DEBUG: "on" };
    const settings = valid(
      readSettings({ sessionMaxAge: 30, debug: false, scope: ["openid"] }, env),
    );
    expect([settings.sessionMaxAge, settings.debug, settings.scope]).toEqual([
      30,
      false,
      ["openid"],
    ]);
  });

  it("code wins also over a value that the environment must not have", () => {
    expect(
      codes(readSettings({ sessionMaxAge: 30 }, { ...COMPLETE, IDP_SESSION_MAX_AGE: "soon" })),
    ).toEqual([]);
  });

  it("undefined leaves the decision to the environment", () => {
    expect(
      valid(readSettings({ sessionMaxAge: undefined }, { ...COMPLETE, IDP_SESSION_MAX_AGE: "60" }))
        .sessionMaxAge,
    ).toBe(60);
  });

  it.each([
    "authFinalRedirectUrl",
    "authLogoutRedirectUrl",
    "sessionMaxAge",
    "sessionIdleTimeout",
    "baseUrl",
    "loginPrompt",
    "cookieName",
  ] as const)("null unsets %s, against any environment variable", (option) => {
    const env = {
      ...COMPLETE,
      IDP_AUTH_FINAL_REDIRECT_URL: "/a",
      IDP_AUTH_LOGOUT_REDIRECT_URL: "/b",
      IDP_SESSION_MAX_AGE: "60",
      IDP_SESSION_IDLE_TIMEOUT: "60",
      IDP_LOGIN_PROMPT: "login",
      IDP_COOKIE_NAME: "app",
    };
    expect(valid(readSettings({}, env))[option]).not.toBeNull();
    expect(valid(readSettings({ [option]: null }, env))[option]).toBeNull();
  });

  it.each([
    ["openid email", ["openid", "email"]],
    ["openid,email", ["openid", "email"]],
    [
      ["openid", "email"],
      ["openid", "email"],
    ],
  ])("scope may be %j in code", (scope, value) => {
    expect(valid(readSettings({ scope }, COMPLETE)).scope).toEqual(value);
  });

  it.each([[""], [" "], [[]]])(
    "scope %j in code is not defined: E004, even when the environment has one",
    (scope) => {
      const result = readSettings({ scope }, COMPLETE);
      expect(codes(result)).toEqual(["E004"]);
      expect(result.settings).toMatchObject({
        scope: ["openid", "email", "profile"],
        scopeIsDefault: true,
      });
    },
  );

  it("prompt none can be set in code, where it does not mean unset", () => {
    expect(valid(readSettings({ loginPrompt: "none" }, COMPLETE)).loginPrompt).toBe("none");
  });

  it("an empty list of document hostnames is accepted in code", () => {
    expect(valid(readSettings({ trustedAudiences: [] }, COMPLETE)).trustedAudiences).toEqual([]);
  });
});

describe("[START-1] required settings", () => {
  it.each([undefined, "", " ", "\t\n"])("SECRET_KEY %j is missing: E001", (text) => {
    expect(withEnv({ SECRET_KEY: text })).toMatchObject({
      settings: undefined,
      findings: [{ code: "E001", severity: "error" }],
    });
  });

  it.each(["", " ", null])(
    "secretKey %j in code is missing, even when the environment has one: E001",
    (secretKey) => {
      expect(codes(withOptions({ secretKey }))).toEqual(["E001"]);
    },
  );

  it.each([
    [{ IDP_CLIENT_ID: "" }, "IDP_CLIENT_ID (option clientId) is missing, empty or blank."],
    [
      { IDP_CLIENT_SECRET: " " },
      "IDP_CLIENT_SECRET (option clientSecret) is missing, empty or blank.",
    ],
    [
      { IDP_CLIENT_ID: undefined, IDP_CLIENT_SECRET: undefined },
      "IDP_CLIENT_ID (option clientId) and IDP_CLIENT_SECRET (option clientSecret) are missing, empty or blank.",
    ],
  ])("%j: E003, which says what is missing", (env, message) => {
    expect(withEnv(env)).toMatchObject({
      settings: undefined,
      findings: [{ code: "E003", severity: "error", message }],
    });
  });

  it("a wrong type is E006, and not also missing", () => {
    expect(codes(withOptions({ secretKey: 1, clientId: 2, clientSecret: 3 }))).toEqual([
      "E006",
      "E006",
      "E006",
    ]);
  });
});

describe("all errors at once", () => {
  it("every one is in the findings, and nothing else", () => {
    const result = readSettings({ sesionMaxAge: 1, debug: "yes" } as unknown as SettingOptions, {
      SCOPE: "email",
      IDP_ISSUER: "http://login.example",
      IDP_SESSION_MAX_AGE: "x",
      BASE_URL: "http://app.example",
      IDP_COOKIE_NAME: "__Secure-app",
      STATE_KEY_NAME: "id_info",
      IDP_SESSION_IDLE_TIMEOUT: "0",
    });
    expect(result.settings).toBeUndefined();
    expect(codes(result).sort()).toEqual([
      ...["E001", "E003", "E005", "E006", "E006", "E007", "E008", "E010", "E011"],
      ...["W003", "W004", "W009"],
    ]);
  });

  it("settings are there exactly when no finding is an error", () => {
    expect(withEnv({ SCOPE: "", BASE_URL: "", SECRET_KEY: "short" })).toMatchObject({
      settings: { secretKey: "short" },
    });
    expect(withEnv({ SCOPE: "email" }).settings).toBeUndefined();
  });
});

describe("unknown options", () => {
  it.each([
    ["sesionMaxAge", "sessionMaxAge"],
    ["sessionMaxage", "sessionMaxAge"],
    ["session_max_age", "sessionMaxAge"],
    ["maxAge", "sessionMaxAge"],
    ["IDP_SESSION_MAX_AGE", "sessionMaxAge"],
    ["BASE_URL", "baseUrl"],
    ["scopes", "scope"],
    ["clientID", "clientId"],
    ["autoRefresh", "sessionAutoRefresh"],
    ["cookie", "cookieName"],
    ["sotre", "store"],
    ["stores", "store"],
  ])("%s is E010, which suggests %s", (name, near) => {
    const result = readSettings({ [name]: undefined }, COMPLETE, {
      otherOptions: ["store", "session", "log"],
    });
    expect(result).toMatchObject({
      settings: undefined,
      findings: [
        {
          code: "E010",
          message: `There is no option "${name}".`,
          remedy: `Did you mean \`${near}\`? docs/reference/settings.md lists the options.`,
        },
      ],
    });
  });

  it.each(["xyzzy", "foo", "scopeIsDefault", "x".repeat(100_000)])(
    "a name that is near nothing gets no suggestion",
    (name) => {
      const [finding] = withOptions({ [name]: 1 }).findings;
      expect(finding).toMatchObject({ code: "E010" });
      expect(finding!.remedy).not.toContain("Did you mean");
    },
  );

  it("the caller's other options are known", () => {
    expect(
      codes(readSettings({ store: {} } as SettingOptions, COMPLETE, { otherOptions: ["store"] })),
    ).toEqual([]);
  });
});

describe("key names (E007)", () => {
  it.each([
    ...FIXED_KEYS,
    ...[
      "cookie",
      "id",
      "req",
      "save",
      "destroy",
      "regenerate",
      "reload",
      "touch",
      "resetMaxAge",
      "sessionId",
      "get",
      "set",
    ],
    ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"],
  ])("%s is a name that is taken", (name) => {
    for (const env of [
      "CREDENTIALS_SESSION_KEY_NAME",
      "STATE_KEY_NAME",
      "FINAL_REDIRECT_KEY_NAME",
    ]) {
      expect(withEnv({ [env]: name })).toMatchObject({
        settings: undefined,
        findings: [{ code: "E007", severity: "error" }],
      });
    }
  });

  it.each([
    [{ CREDENTIALS_SESSION_KEY_NAME: "same", STATE_KEY_NAME: "same" }, 1],
    [{ STATE_KEY_NAME: "final_redirect" }, 1],
    [{ FINAL_REDIRECT_KEY_NAME: "credentials" }, 1],
    [
      {
        CREDENTIALS_SESSION_KEY_NAME: "same",
        STATE_KEY_NAME: "same",
        FINAL_REDIRECT_KEY_NAME: "same",
      },
      2,
    ],
  ])("%j are not distinct", (env, count) => {
    expect(codes(withEnv(env))).toEqual(Array.from({ length: count }, () => "E007"));
  });

  it("names may be swapped, as long as they are distinct", () => {
    expect(
      codes(withEnv({ STATE_KEY_NAME: "final_redirect", FINAL_REDIRECT_KEY_NAME: "oauth_state" })),
    ).toEqual([]);
  });
});

describe("[CK-2] encryption on the way", () => {
  it.each([
    ["https://idp.internal/x", "https://idp.internal/token", []],
    ["http://localhost:8080/x", "https://idp.internal/token", []],
    ["http://idp.internal:8080/x?p=y", "http://idp.internal:8080/token", ["W011"]],
    ["http://idp.internal:8080/x", "http://idp.internal/token", ["E008", "W011"]],
    ["https://idp.internal/x", "http://idp.internal/token", ["E008"]],
    ["http://user@idp.internal/x", "https://idp.internal/token", ["E006"]],
    ["https://idp.internal/x#y", "https://idp.internal/token", ["E006"]],
    ["idp.internal/x", "https://idp.internal/token", ["E006"]],
  ])("discovery URL %s with the token endpoint %s: %j", (discoveryUrl, endpoint, expected) => {
    const result = withEnv({
      IDP_DISCOVERY_URL: discoveryUrl,
      IDP_PROVIDER_METADATA: JSON.stringify({ token_endpoint: endpoint }),
      IDP_SESSION_AUTO_REFRESH: "off",
    });
    expect(codes(result)).toEqual(expected);
  });

  it("the discovery URL never allows an unencrypted endpoint that browsers open", () => {
    for (const name of ["authorization_endpoint", "end_session_endpoint"])
      expect(
        codes(
          withEnv({
            IDP_DISCOVERY_URL: "http://idp.internal/x",
            IDP_PROVIDER_METADATA: JSON.stringify({ [name]: "http://idp.internal/y" }),
            IDP_SESSION_AUTO_REFRESH: "off",
          }),
        ),
      ).toEqual(["E008", "W011"]);
  });

  it("each of several providers has its own discovery URL", () => {
    const { providers } = readSettings(
      {
        providers: {
          a: { clientId: "a", clientSecret: "a", issuer: "https://a.example" },
          b: { clientId: "b", clientSecret: "b", issuer: "https://b.example" },
        },
      },
      {
        SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
        IDP_PROVIDER_A_DISCOVERY_URL: "https://a.internal/x",
      },
    );
    expect(providers.map(({ settings }) => settings.discoveryUrl)).toEqual([
      "https://a.internal/x",
      null,
    ]);
  });

  it.each([
    ["https://login.example", "false", []],
    ["http://localhost:4000", "false", []],
    ["http://idp.localhost", "false", []],
    ["http://127.0.0.1:4000/", "false", []],
    ["http://127.1", "false", []],
    ["http://[::1]:4000", "false", []],
    ["http://login.example", "false", ["E008"]],
    ["http://192.168.1.5", "false", ["E008"]],
    ["http://127.0.0.1.evil.example", "false", ["E008"]],
    ["http://localhost.evil.example", "false", ["E008"]],
    ["http://notlocalhost", "false", ["E008"]],
    ["http://0.0.0.0", "false", ["E008"]],
    ["http://login.example", "true", ["W011"]],
    ["http://127.0.0.1:4000", "true", []],
  ])("issuer %s with debug mode %s: %j", (issuer, debug, expected) => {
    const result = withEnv({
      IDP_ISSUER: issuer,
      IDP_DEBUG: debug,
      BASE_URL: "http://localhost:3000",
      IDP_SESSION_AUTO_REFRESH: "off",
    });
    expect(codes(result)).toEqual(expected);
    expect(result.settings === undefined).toBe(expected.includes("E008"));
  });

  it.each([
    ["", "off", ["W001"]],
    ["", "on", ["W001", "W010"]],
    ["http://app.example", "off", ["W009"]],
    ["http://app.example", "on", ["W009", "W010"]],
    ["http://localhost:3000", "off", []],
    ["http://localhost:3000", "on", []],
    ["https://localhost:3000", "on", []],
    ["http://127.0.0.1:3000", "on", []],
    ["http://[::1]:3000", "on", []],
    ["http://app.localhost", "on", []],
    ["http://localhost.example", "on", ["W009", "W010"]],
    ["http://0.0.0.0:3000", "on", ["W009", "W010"]],
    ["https://app.example", "off", []],
    ["https://app.example", "on", ["W010"]],
    ["not an origin", "on", ["E006"]],
  ])("BASE_URL %j with debug mode %s: %j", (baseUrl, debug, expected) => {
    expect(codes(withEnv({ BASE_URL: baseUrl, IDP_DEBUG: debug }))).toEqual(expected);
  });

  it.each([
    ["__Host-app", "http://localhost:3000", ["E011"]],
    ["__Secure-app", "http://localhost:3000", ["E011"]],
    ["__host-app", "http://localhost:3000", ["E011"]],
    ["__Host-app", "https://app.example", []],
    ["__HOST-app", "https://app.example", []],
    ["__Secure-app", "https://app.example", ["W013"]],
    ["app", "https://app.example", ["W013"]],
    ["x__Host-app", "https://app.example", ["W013"]],
    ["app", "https://localhost:3000", ["W013"]],
    ["", "https://app.example", []],
    ["__Host-app", "", ["W001", "E011"]],
    ["__Secure-app", "", ["W001", "E011"]],
    ["app", "", ["W001"]],
    ["__Host-app", "not an origin", ["E006"]],
    ["app", "http://localhost:3000", []],
    ["x__Host-app", "http://localhost:3000", []],
  ])("cookie name %s with BASE_URL %j: %j", (cookieName, baseUrl, expected) => {
    expect(codes(withEnv({ IDP_COOKIE_NAME: cookieName, BASE_URL: baseUrl }))).toEqual(expected);
  });
});

describe("a variable that is probably misspelt: W014", () => {
  it.each([
    ["IDP_ISUER", "IDP_ISSUER"],
    ["IDP_CLIENTID", "IDP_CLIENT_ID"],
    ["IDP_SESSION_MAXAGE", "IDP_SESSION_MAX_AGE"],
    ["IDP_SESSION_IDLE_TIMEOUTS", "IDP_SESSION_IDLE_TIMEOUT"],
    ["IDP_DEBUGG", "IDP_DEBUG"],
    ["IDP_AUTH_LOGOUT_REDIRECT_URI", "IDP_AUTH_LOGOUT_REDIRECT_URL"],
    ["idp_issuer", "IDP_ISSUER"],
  ])("%s is near %s", (name, meant) => {
    const { settings, findings } = withEnv({ [name]: "hunter2" });
    expect(findings).toMatchObject([{ code: "W014", severity: "warning" }]);
    expect(findings[0]?.message).toContain(`"${name}"`);
    expect(findings[0]?.message).toContain(`Did you mean \`${meant}\`?`);
    expect(JSON.stringify(findings)).not.toContain("hunter2");
    expect(settings).toBeDefined();
  });

  it.each([
    "IDP_URL",
    "IDP_HOST",
    "IDP_AUDIENCE",
    "IDP_CLIENT_CERTIFICATION",
    "IDP_DB",
    "IDP_",
    "CLIENT_ID",
    "MY_IDP_ISSUR",
    "SECRET_KEYS",
    `IDP_${"X".repeat(500)}`,
  ])("%s is nothing to warn about", (name) => {
    expect(codes(withEnv({ [name]: "x" }))).toEqual([]);
  });

  it("every setting's own name is not unknown, nor is its other spelling if the system ignores letter case", () => {
    const all = Object.fromEntries(Object.values(SETTINGS).map(({ env }) => [env, ""]));
    expect(codes(readSettings({}, all))).not.toContain("W014");
    expect(codes(withEnv({ Idp_Client_Id: "client" }))).toEqual([]);
  });
});

describe("[START-2] a published key", () => {
  const PLACEHOLDER = "put-at-least-32-random-bytes-here-please";

  it.each([
    [{ SECRET_KEY: PLACEHOLDER }, "SECRET_KEY (option secretKey)"],
    [{ SECRET_KEY: ` ${PLACEHOLDER} ` }, "SECRET_KEY (option secretKey)"],
    [{ SECRET_KEY: "at-least-32-random-bytes-go-here" }, "SECRET_KEY (option secretKey)"],
    [
      { SECRET_KEY_FALLBACKS: `${KEY} ${PLACEHOLDER}` },
      "SECRET_KEY_FALLBACKS (option secretKeyFallbacks)",
    ],
  ])("%j is E013, in every mode", (env, name) => {
    for (const IDP_DEBUG of ["on", "off"]) {
      const { settings, findings } = withEnv({
        ...env,
        IDP_DEBUG,
        BASE_URL: "http://localhost:3000",
      });
      expect([settings, findings.map(({ code, severity }) => [code, severity])]).toEqual([
        undefined,
        [["E013", "error"]],
      ]);
      expect(findings[0]?.message).toContain(name);
      expect(JSON.stringify(findings)).not.toContain(PLACEHOLDER);
    }
  });

  it("is E013 in code, too", () => {
    expect(codes(withOptions({ secretKey: PLACEHOLDER }))).toContain("E013");
    expect(codes(withOptions({ secretKeyFallbacks: [PLACEHOLDER] }))).toContain("E013");
  });

  it("as a part of a longer key is accepted", () => {
    expect(
      codes(withEnv({ SECRET_KEY: `${PLACEHOLDER}-not`, BASE_URL: "http://localhost:3000" })),
    ).toEqual([]);
  });
});

describe("warnings", () => {
  it.each([
    [ALPHABET.slice(0, 31), ["W002"]],
    [ALPHABET.slice(0, 32), []],
    [`é${ALPHABET.slice(0, 29)}`, ["W002"]],
    [`é${ALPHABET.slice(0, 30)}`, []],
  ])("SECRET_KEY is measured in bytes: %s", (key, expected) => {
    expect(codes(withEnv({ SECRET_KEY: key }))).toEqual(expected);
  });

  it.each([
    ["0".repeat(64), ["W002"]],
    ["abc".repeat(20), ["W002"]],
    ["0123456789012345678901234567890123", ["W002"]],
    ["deadbeef".repeat(8), ["W002"]],
    ["é".repeat(40), ["W002"]],
    [ALPHABET.slice(0, 31).repeat(2), ["W002"]],
    [ALPHABET.slice(0, 32).repeat(2), []],
    [`${ALPHABET.slice(0, 20)}${ALPHABET.slice(0, 19)}`, []],
    [`${"0".repeat(40)}1`, []],
  ])("SECRET_KEY that repeats a part shorter than 32 bytes is W002: %s", (key, expected) => {
    expect(codes(withEnv({ SECRET_KEY: key }))).toEqual(expected);
  });

  it("a random SECRET_KEY has no warning", () => {
    for (let count = 0; count < 100; count += 1) {
      expect(codes(withEnv({ SECRET_KEY: randomBytes(32).toString("base64url") }))).toEqual([]);
    }
  });

  it.each(["IDP_SESSION_MAX_AGE", "IDP_SESSION_IDLE_TIMEOUT", "IDP_SESSION_TTL"])(
    "%s of 0 is taken literally: W003",
    (env) => {
      const result = withEnv({ [env]: "0" });
      expect(result.findings).toMatchObject([{ code: "W003", severity: "warning" }]);
      expect(result.findings[0]!.message).toContain(env);
      expect(Object.values(valid(result))).toContain(0);
    },
  );

  it.each([
    [{ sessionMaxAge: 3600, sessionTtl: 3600 }, ["IDP_SESSION_MAX_AGE"]],
    [{ sessionMaxAge: 3600, sessionTtl: 3601 }, []],
    [
      { sessionMaxAge: 9000, sessionIdleTimeout: 9000, sessionTtl: 3600 },
      ["IDP_SESSION_MAX_AGE", "IDP_SESSION_IDLE_TIMEOUT"],
    ],
    [{ sessionIdleTimeout: 30 * 86_400 }, ["IDP_SESSION_IDLE_TIMEOUT"]],
    [{ sessionMaxAge: 30 * 86_400, sessionIdleTimeout: 30 * 86_400 }, []],
    [{ sessionTtl: 60 }, []],
  ])(
    "[BFF-7] W012 with %j: each session limit that the record does not outlive: %j",
    (options, expected) => {
      const result = readSettings(options, COMPLETE);
      expect(codes(result)).toEqual(expected.length === 0 ? [] : ["W012"]);
      for (const name of expected) expect(result.findings[0]?.message).toContain(name);
    },
  );

  it("a redirect setting with other characters than ASCII is encoded, since it becomes a header", () => {
    expect(
      valid(withEnv({ IDP_AUTH_FINAL_REDIRECT_URL: "/\u65e5\u672c" })).authFinalRedirectUrl,
    ).toBe("/%E6%97%A5%E6%9C%AC");
  });

  it("-0 in code is 0", () => {
    expect(valid(readSettings({ sessionMaxAge: -0 }, COMPLETE)).sessionMaxAge).toBe(0);
  });

  it.each([
    ["https://login.example", "openid email", "on", ["W004"]],
    ["https://login.example", "openid offline_access", "on", []],
    ["https://login.example", "openid email", "off", []],
    ["https://login.example", "", "on", ["E004"]],
    ["https://accounts.google.com", "openid email", "on", []],
  ])("issuer %s, SCOPE %j, auto-refresh %s: %j", (issuer, scope, refresh, expected) => {
    expect(
      codes(withEnv({ IDP_ISSUER: issuer, SCOPE: scope, IDP_SESSION_AUTO_REFRESH: refresh })),
    ).toEqual(expected);
  });

  it("a SCOPE without openid is error E005", () => {
    expect(withEnv({ SCOPE: "email profile" })).toMatchObject({
      settings: undefined,
      findings: [{ code: "E005", severity: "error" }],
    });
    expect(codes(withEnv({ SCOPE: "OpenID" }))).toEqual(["E005"]);
  });
});

describe("reading is pure", () => {
  it("the settings and their lists are frozen, and share nothing with what was given", () => {
    const scope = ["openid"];
    const settings = valid(readSettings({ scope }, COMPLETE));
    expect(
      Object.isFrozen(settings) && Object.values(settings).every((value) => Object.isFrozen(value)),
    ).toBe(true);
    scope.push("email");
    expect(settings.scope).toEqual(["openid"]);
  });

  it("options and environment are left as they are, and may be frozen", () => {
    const options = Object.freeze({ scope: Object.freeze(["openid"]) });
    const env = Object.freeze({ ...COMPLETE });
    expect(readSettings(options, env)).toEqual(readSettings(options, env));
    expect(Object.isFrozen(COMPLETE)).toBe(false);
  });

  it("a prototype's property is not a setting", () => {
    const options = Object.create({ debug: true, unknown: 1 }) as SettingOptions;
    const env = Object.assign(
      Object.create({ IDP_TRUST_PROXY: "on" }) as Record<string, string>,
      COMPLETE,
    );
    expect(valid(readSettings(options, env))).toMatchObject({ debug: false, trustProxy: false });
  });

  it.each([null, 42, "text", [], [1], () => undefined])(
    "options %j are a finding, not an exception",
    (options) => {
      expect(codes(readSettings(options as unknown as SettingOptions, COMPLETE))).toEqual(["E006"]);
    },
  );

  it("an environment that is not all strings is a finding, not an exception", () => {
    expect(
      codes(readSettings({}, { ...COMPLETE, IDP_SESSION_MAX_AGE: 60 as unknown as string })),
    ).toEqual(["E006"]);
    expect(codes(readSettings({}, null as unknown as undefined)).sort()).toEqual([
      "E001",
      "E003",
      "E004",
      "W001",
    ]);
  });
});
