import fc from "fast-check";
import { expect } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { readSettings, SETTINGS, type SettingName } from "../../src/config/read-settings.js";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpRequest, LogEntry } from "../../src/index.js";
import { fuzz } from "./fuzz.js";
import { edited, HOSTILE_VALUES, textEdit } from "./mutations.js";

const NAMES = Object.keys(SETTINGS) as readonly SettingName[];
const SECRETS = NAMES.filter((name) => SETTINGS[name].secret);

/** Stands in every secret, and in the password of every URL, and must stand nowhere else. */
const MARK = "zq9SECRETq9z";

/** A value that each setting takes, as the environment has it. */
const GOOD: Readonly<Record<string, string>> = {
  SECRET_KEY: `${MARK} a secret key of at least 32 bytes`,
  SECRET_KEY_FALLBACKS: `${MARK}-the-key-of-last-year-of-32-bytes ${MARK}-the-one-before-that-of-32-bytes`,
  IDP_CLIENT_ID: "client",
  IDP_CLIENT_SECRET: `${MARK}-client-secret`,
  IDP_ISSUER: "https://idp.example",
  SCOPE: "openid email profile",
  IDP_AUTH_FINAL_REDIRECT_URL: "/start?x=1",
  IDP_AUTH_LOGOUT_REDIRECT_URL: "https://www.app.example/bye",
  IDP_SESSION_AUTO_REFRESH: "true",
  IDP_SESSION_MAX_AGE: "86400",
  IDP_SESSION_IDLE_TIMEOUT: "3600",
  IDP_SESSION_TTL: "1209600",
  BASE_URL: "https://app.example",
  IDP_HTTP_TIMEOUT: "2.5",
  IDP_REFRESH_CONCURRENCY: "20",
  IDP_LOGIN_PROMPT: "login consent",
  IDP_AUTHORIZATION_PARAMS: `audience=https%3A%2F%2Fapi.example&organization=${MARK}`,
  IDP_LOGIN_PARAMS: "login_hint, ui_locales",
  IDP_MOUNT_PATH: "/idpauth/",
  IDP_PATH_PREFIX: "/portal",
  IDP_DEBUG: "false",
};

const PIECES = [
  "http://",
  "localhost",
  "[::1]",
  "127.0.0.1",
  "none",
  "null",
  "yes",
  ",",
  "  ",
  "openid",
  "%2e",
];

const env = fc
  .record({
    edits: fc.array(
      fc.tuple(
        fc.constantFrom(...NAMES),
        fc.array(textEdit(PIECES), { minLength: 1, maxLength: 3 }),
      ),
      { maxLength: 4 },
    ),
    set: fc.array(
      fc.tuple(
        fc.constantFrom(...NAMES),
        fc.constantFrom(...HOSTILE_VALUES.map(String), `https://ada:${MARK}@idp.example`),
      ),
      {
        maxLength: 2,
      },
    ),
    without: fc.array(fc.constantFrom(...NAMES), { maxLength: 2 }),
  }) // prettier-ignore
  .map(({ edits, set, without }) => {
    const made: Record<string, string> = { ...GOOD };
    for (const [name, texts] of edits)
      made[SETTINGS[name].env] = texts.reduce(edited, made[SETTINGS[name].env] ?? "");
    for (const [name, value] of set)
      made[SETTINGS[name].env] = SECRETS.includes(name) ? value + MARK : value;
    for (const name of without) Reflect.deleteProperty(made, SETTINGS[name].env);
    return made;
  });

const hostile = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE_VALUES, Number.NaN, Infinity, -0, 10n, Symbol("x"), () => 1, new Date(0), new Proxy({}, {})) },
  { weight: 2, arbitrary: fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true, withNullPrototype: true }) },
  { weight: 1, arbitrary: fc.constantFrom(`https://ada:${MARK}@idp.example`) },
); // prettier-ignore

const options = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom<string>(...NAMES), fc.constantFrom("issuerUrl", "clientID", "__proto__", "secret")), hostile), { maxLength: 4 })
  .map((pairs) => {
    const made: Record<string, unknown> = {};
    for (const [name, value] of pairs) {
      const isSecret = (SECRETS as readonly string[]).includes(name);
      const given = isSecret && typeof value === "string" ? MARK + value : isSecret && Array.isArray(value) ? [...value, MARK] : value;
      Object.defineProperty(made, name, { value: given, enumerable: true, configurable: true });
    }
    return made;
  }); // prettier-ignore

function isFrozen(value: unknown): boolean {
  return (
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  );
}

fuzz({
  id: "FUZZ-9",
  target: "settings",
  runs: 300,
  kept: [
    {
      why: "a secret in IDP_AUTHORIZATION_PARAMS was repeated as a wrong parameter name",
      input: [{ ...GOOD, IDP_AUTHORIZATION_PARAMS: `audience=x&${MARK} of a client=1` }, {}],
      mark: `"IDP_AUTHORIZATION_PARAMS":"audience=x&${MARK} of a client=1"`,
    },
  ],
  property: fc.property(env, options, (someEnv, someOptions) => {
    const log: LogEntry[] = [];
    const {
      providers: [read],
      findings,
    } = readSettings(someOptions, someEnv);
    const settings = read?.settings;
    expect(settings === undefined).toBe(findings.some(({ severity }) => severity === "error"));
    if (settings !== undefined) {
      expect(isFrozen(settings)).toBe(true);
      // What was read is read again as the same: no setting means something else the second time.
      // Keys and certificates are read into other forms, and no random text is one.
      const {
        scopeIsDefault: _default,
        publicPath: _path,
        privateKey,
        certificate,
        clientCertificate,
        clientCertificateKey,
        providers,
        baseUrl,
        ...others
      } = settings;
      const again = {
        ...others,
        baseUrl: typeof baseUrl === "object" && baseUrl !== null ? baseUrl.list : baseUrl,
      };
      const converted = [
        privateKey,
        certificate,
        clientCertificate,
        clientCertificateKey,
        providers,
      ];
      expect(converted).toEqual(converted.map(() => null));
      const second = readSettings(again, {}).providers[0]?.settings;
      expect({ ...second, scopeIsDefault: settings.scopeIsDefault }).toEqual(settings);
    }
    for (const { code, message, remedy } of findings) {
      expect(code).toMatch(/^[EW]\d{3}$/);
      expect(remedy).not.toBe("");
      expect(message + remedy).not.toContain(MARK);
      // One line for a terminal, and nothing that moves its cursor.
      expect(message + remedy).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }
    const auth = createIdpAuth<IdpRequest>(
      { ...someOptions, env: someEnv, log: (entry) => log.push(entry) },
      { name: "plain", request: (raw) => raw },
    );
    try {
      auth.start();
      expect(settings).toBeDefined();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      const { message, stack, findings: told } = error as ConfigurationError;
      expect(told.some(({ severity }) => severity === "error")).toBe(true);
      expect(`${message}${stack ?? ""}`).not.toContain(MARK);
    }
    expect(JSON.stringify(log)).not.toContain(MARK);
  }),
});
