import { inspect } from "node:util";
import express from "express";
import session from "express-session";
import { describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { ConfigurationError, type Finding, type LogEntry } from "../../src/index.js";

const SECRET_KEY = "the-secret-key-that-nobody-may-see-0123";
const CLIENT_SECRET = "the-client-secret-that-nobody-may-see";
const GOOD = {
  secretKey: SECRET_KEY,
  clientId: "client",
  clientSecret: CLIENT_SECRET,
  scope: ["openid"],
  issuer: "https://id.example",
};

interface Start {
  /** Undefined: it started. */
  readonly error: ConfigurationError | undefined;
  readonly codes: readonly string[];
  /** Everything that was said to anybody. */
  readonly said: string;
}

function start(
  options: Record<string, unknown>,
  env: Record<string, string> = {},
  install?: (app: express.Express) => void,
): Start {
  const log: LogEntry[] = [];
  const app = express();
  install?.(app);
  const auth = idpAuth({ env, ...options, log: (entry) => log.push(entry) });
  let error: ConfigurationError | undefined;
  let findings: readonly Finding[] = [];
  try {
    findings = auth.mount(app);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ConfigurationError);
    error = thrown as ConfigurationError;
    findings = error.findings;
  }
  const said = [
    inspect(log, { depth: 9 }),
    inspect(error, { depth: 9 }),
    error?.message,
    error?.stack,
    JSON.stringify(findings),
    inspect(auth, { depth: 9 }),
  ].join("\n");
  return { error, codes: findings.map(({ code }) => code), said };
}

/** The four ways in which a setting can be absent, from the environment and in code. */
const ABSENT: readonly (readonly [how: string, value: unknown])[] = [
  ["missing", undefined],
  ["empty", ""],
  ["white space", " \t\n"],
  ["null", null],
];
const WRONG_TYPES: readonly unknown[] = [42, true, {}, [], () => "x", Symbol("x"), 10n];

describe("[START-1] start-up checks", () => {
  it("lets a complete configuration start", () => {
    expect(start(GOOD).error).toBeUndefined();
  });

  it.each([
    ["secretKey", "E001"],
    ["clientId", "E003"],
    ["clientSecret", "E003"],
  ] as const)("%s that is missing, empty, blank or null does not start: %s", (name, code) => {
    for (const [how, value] of ABSENT) {
      const { error, codes } = start({ ...GOOD, [name]: value });
      expect([how, error === undefined, codes.includes(code)]).toEqual([how, false, true]);
    }
  });

  it.each([
    ["SECRET_KEY", "E001"],
    ["IDP_CLIENT_ID", "E003"],
    ["IDP_CLIENT_SECRET", "E003"],
  ] as const)(
    "%s in the environment that is missing, empty or blank does not start: %s",
    (name, code) => {
      const env = {
        SECRET_KEY,
        IDP_CLIENT_ID: "client",
        IDP_CLIENT_SECRET: CLIENT_SECRET,
        SCOPE: "openid",
        IDP_ISSUER: "https://id.example",
      };
      expect(start({}, env).error).toBeUndefined();
      for (const value of ["", " ", "\t"])
        expect(start({}, { ...env, [name]: value }).codes).toContain(code);
      const { [name]: _gone, ...rest } = env;
      expect(start({}, rest).codes).toContain(code);
    },
  );

  it.each([
    "secretKey",
    "clientId",
    "clientSecret",
    "scope",
    "issuer",
    "baseUrl",
    "authFinalRedirectUrl",
    "cookieName",
    "mountPath",
  ])("%s of a wrong type does not start: E006", (name) => {
    for (const value of WRONG_TYPES) {
      if (name === "scope" && Array.isArray(value)) continue;
      // A function of the host.
      if (name === "baseUrl" && typeof value === "function") continue;
      const { error, codes } = start({ ...GOOD, [name]: value });
      expect([String(value), error === undefined, codes.includes("E006")]).toEqual([
        String(value),
        false,
        true,
      ]);
    }
  });

  it.each([
    ["missing", undefined],
    ["empty", ""],
    ["an empty list", []],
    ["blank", "  "],
  ])("a SCOPE that is %s starts, with a warning: E004", (_how, scope) => {
    const { error, codes, said } = start({ ...GOOD, scope });
    expect([error, codes.includes("E004")]).toEqual([undefined, true]);
    expect(said).toContain("E004");
  });

  it.each<[string, Record<string, unknown>, string, boolean]>([
    ["a provider over http", { issuer: "http://id.example" }, "E008", false],
    [
      "a provider over http in debug mode",
      { issuer: "http://id.example", debug: true },
      "W011",
      true,
    ],
    ["a SECRET_KEY of 31 bytes", { secretKey: "k".repeat(31) }, "W002", true],
    [
      "debug mode at an https address",
      { debug: true, baseUrl: "https://app.example" },
      "W010",
      true,
    ],
    [
      "debug mode at an http address of another machine",
      { debug: true, baseUrl: "http://app.example" },
      "W010",
      true,
    ],
    ["debug mode without an address", { debug: true }, "W010", true],
    ["no own origin in debug mode", { debug: true }, "W001", true],
    ["no store in debug mode", { debug: true }, "W005", true],
    [
      "a cookie name without __Host- over https",
      { cookieName: "sid", baseUrl: "https://app.example" },
      "W013",
      true,
    ],
    [
      "the README's SECRET_KEY",
      { secretKey: "put-at-least-32-random-bytes-here-please" },
      "E013",
      false,
    ],
    [
      "the README's SECRET_KEY as a fallback",
      { secretKeyFallbacks: ["put-at-least-32-random-bytes-here-please"] },
      "E013",
      false,
    ],
    ["an application over http", { baseUrl: "http://app.example" }, "W009", true],
    ["no own origin", {}, "W001", true],
    ["a SCOPE without openid", { scope: ["email"] }, "E005", false],
    ["a misspelt option", { secretkey: "x" }, "E010", false],
  ])("%s is refused or warned of: %s", (_what, options, code, starts) => {
    const { error, codes, said } = start({ ...GOOD, ...options });
    expect([error === undefined, codes.includes(code), said.includes(code)]).toEqual([
      starts,
      true,
      true,
    ]);
  });

  it("the framework's session middleware that is missing, or comes after idpauth, does not start: E002", () => {
    const middleware = session({ secret: "x", resave: false, saveUninitialized: false });
    expect(start({ ...GOOD, session: "host" }).codes).toContain("E002");
    expect(
      start({ ...GOOD, session: "host" }, {}, (app) => void app.use(middleware)).error,
    ).toBeUndefined();
    const late = express();
    const auth = idpAuth({ env: {}, ...GOOD, session: "host", log: false });
    expect(() => {
      auth.mount(late);
      late.use(middleware);
    }).toThrow(/E002/);
  });

  it("no finding, error, log line or stack of any of this holds a secret, also not one of a wrong form", () => {
    const wrong: Record<string, unknown>[] = [
      { ...GOOD, secretKey: [SECRET_KEY] },
      { ...GOOD, secretKey: { toString: () => SECRET_KEY } },
      { ...GOOD, clientSecret: [CLIENT_SECRET] },
      { ...GOOD, clientSecret: { secret: CLIENT_SECRET } },
      { ...GOOD, secretKeyFallbacks: SECRET_KEY },
      { ...GOOD, secretKeyFallbacks: [SECRET_KEY, 7] },
      { ...GOOD, clientId: "" },
      { ...GOOD, scope: ["email"], issuer: "http://id.example", cookieNam: SECRET_KEY },
      { ...GOOD, [SECRET_KEY]: CLIENT_SECRET },
      { ...GOOD, session: "host" },
      { ...GOOD },
    ];
    for (const options of wrong) {
      const { said } = start(options);
      // An option that somebody has named like the secret is named back; nothing else is.
      if (!(SECRET_KEY in options)) expect(said).not.toContain(SECRET_KEY);
      expect(said).not.toContain(CLIENT_SECRET);
    }
    const env = {
      SECRET_KEY,
      IDP_CLIENT_SECRET: CLIENT_SECRET,
      SECRET_KEY_FALLBACKS: `${SECRET_KEY}2`,
      IDP_SESSION_MAX_AGE: "8h",
    };
    const { error, said } = start({}, env);
    expect(error).toBeDefined();
    expect([said.includes(SECRET_KEY), said.includes(CLIENT_SECRET)]).toEqual([false, false]);
  });
});
