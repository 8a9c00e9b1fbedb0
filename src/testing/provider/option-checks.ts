import { isPublicKey, keysIn } from "./client-keys.js";
import type { Fault, HoldOptions } from "./faults.js";
import type { LogoutTokenOptions } from "./logout-tokens.js";
import { ENDPOINTS, type Endpoint } from "./received-requests.js";
import type { TestProviderOptions } from "./test-provider-api.js";
import type { ProviderSettings } from "./test-provider-settings.js";

/** The expected kind of a value, in words and as a check. */
interface Expected {
  readonly words: string;
  fits(value: unknown): boolean;
}

const TEXT: Expected = { words: "a string", fits: (value) => typeof value === "string" };
const TEXT_OR_UNDEFINED: Expected = {
  words: "a string, or undefined",
  fits: (value) => value === undefined || TEXT.fits(value),
};
const TEXTS: Expected = {
  words: "a list of strings",
  fits: (value) => Array.isArray(value) && value.every(TEXT.fits),
};
const TEXTS_OR_UNDEFINED: Expected = {
  words: "a list of strings, or undefined",
  fits: (value) => value === undefined || TEXTS.fits(value),
};
const SUPPORT: Expected = {
  words: `"supported" or "ignored"`,
  fits: (value) => value === "supported" || value === "ignored",
};
const DEMAND: Expected = {
  words: `"ignored", "supported" or "required"`,
  fits: (value) => value === "required" || SUPPORT.fits(value),
};
const ADDRESS_OR_UNDEFINED: Expected = {
  words: "an absolute URL, or undefined",
  fits: (value) => value === undefined || (typeof value === "string" && URL.canParse(value)),
};
const TRUTH: Expected = { words: "true or false", fits: (value) => typeof value === "boolean" };
const ANYTHING: Expected = { words: "anything", fits: () => true };
const FUNCTION: Expected = { words: "a function", fits: (value) => typeof value === "function" };
const RECORD: Expected = {
  words: "an object",
  fits: (value) => typeof value === "object" && value !== null,
};
const SECONDS: Expected = { words: "a number of seconds", fits: Number.isFinite };
/** Infinity is allowed. */
const AMOUNT: Expected = {
  words: "a number, 0 or more",
  fits: (value) => typeof value === "number" && value >= 0,
};
const COUNT: Expected = {
  words: "a whole number, 1 or more",
  fits: (value) => value === Infinity || (Number.isInteger(value) && Number(value) >= 1),
};
const STATUS: Expected = {
  words: "a number from 200 to 599",
  fits: (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
};

/**
 * The members of each fault. JavaScript tests have no type check, and an unknown fault or option
 * would make a test that proves nothing.
 */
const FAULTS: {
  readonly [Kind in Fault["kind"]]: Readonly<
    Record<Exclude<keyof Extract<Fault, { kind: Kind }>, keyof Fault>, Expected>
  >;
} = {
  status: { status: STATUS, body: ANYTHING, headers: RECORD },
  hang: {},
  reset: {},
  delay: { ms: AMOUNT },
  garbage: { body: TEXT },
  oversized: { bytes: AMOUNT },
  redirect: { status: STATUS, location: TEXT },
  drip: { ms: AMOUNT, body: TEXT },
  "wrong-type": { headers: RECORD, body: TEXT, byteOrderMark: TRUTH },
  truncated: { bytes: AMOUNT, body: TEXT },
};
const OF_EVERY_FAULT: Readonly<Record<keyof Fault, Expected>> = {
  kind: TEXT,
  before: TRUTH,
  times: COUNT,
  when: FUNCTION,
};
const HOLD: Readonly<Record<keyof HoldOptions, Expected>> = {
  before: TRUTH,
  times: COUNT,
  count: COUNT,
  when: FUNCTION,
};
const LOGOUT_TOKEN: Readonly<Record<keyof LogoutTokenOptions, Expected>> = {
  sub: TEXT,
  sid: TEXT,
  iat: SECONDS,
  exp: SECONDS,
  claims: RECORD,
  header: RECORD,
  key: RECORD,
};
const SETTINGS: Readonly<Record<keyof ProviderSettings, Expected>> = {
  clientId: TEXT,
  clientSecret: TEXT,
  clientJwks: {
    words: "a list or set of public JWKs, or undefined",
    fits: (value) => value === undefined || keysIn(value)?.every(isPublicKey) === true,
  },
  clientAssertionAudience: {
    words: '"issuer", "token_endpoint" or "endpoint"',
    fits: (value) => value === "issuer" || value === "token_endpoint" || value === "endpoint",
  },
  pushedRequests: TRUTH,
  requirePushedRequests: TRUTH,
  pushedRequestSeconds: SECONDS,
  redirectUris: TEXTS_OR_UNDEFINED,
  tokenEndpointAuthMethods: TEXTS,
  idTokenSeconds: SECONDS,
  accessTokenSeconds: SECONDS,
  accessTokens: {
    words: '"jwt" or "opaque"',
    fits: (value) => value === "jwt" || value === "opaque",
  },
  issueRefreshToken: {
    words: `true, false or "offline_access"`,
    fits: (value) => value === "offline_access" || TRUTH.fits(value),
  },
  rotation: TRUTH,
  reuseDetection: TRUTH,
  reuseGraceSeconds: AMOUNT,
  announceIss: TRUTH,
  scopesSupported: TEXTS,
  pkce: {
    words: `"required" or "ignored"`,
    fits: (value) => value === "required" || value === "ignored",
  },
  claimsInIdToken: TRUTH,
  userinfoOnly: TEXTS,
  stepUp: SUPPORT,
  acrValues: TEXTS_OR_UNDEFINED,
  promptNoneError: TEXT_OR_UNDEFINED,
  tenant: TEXT_OR_UNDEFINED,
  sid: SUPPORT,
  endSession: SUPPORT,
  postLogoutRedirectUris: TEXTS_OR_UNDEFINED,
  backchannelLogoutUri: ADDRESS_OR_UNDEFINED,
  frontchannelLogoutUri: ADDRESS_OR_UNDEFINED,
  frontchannelLogoutParams: {
    words: 'a list of "iss" and "sid"',
    fits: (value) => Array.isArray(value) && value.every((one) => one === "iss" || one === "sid"),
  },
  apple: {
    words: "an object with the strings `teamId` and `keyId`, or undefined",
    fits(value) {
      const { teamId, keyId } = Object(value) as Readonly<Record<string, unknown>>;
      return value === undefined || (TEXT.fits(teamId) && TEXT.fits(keyId));
    },
  },
  signingAlg: {
    words: '"RS256" or "PS256"',
    fits: (value) => value === "RS256" || value === "PS256",
  },
  dpop: DEMAND,
  dpopNonce: {
    words: '"none", "always", "rotates" or "refresh"',
    fits: (value) => ["none", "always", "rotates", "refresh"].includes(value as string),
  },
  dpopNonceSeconds: AMOUNT,
  dpopNonceCheck: {
    words: '"before-grant" or "after-grant"',
    fits: (value) => value === "before-grant" || value === "after-grant",
  },
  dpopProofSeconds: AMOUNT,
  dpopSigningAlgs: TEXTS,
  dpopBoundRefreshTokens: TRUTH,
  tlsClientAuth: {
    words: "an object with `names` or with the list `selfSigned`, or undefined",
    fits(value) {
      const { names, selfSigned } = Object(value) as Readonly<Record<string, unknown>>;
      return (
        value === undefined || TEXTS.fits(selfSigned) || (RECORD.fits(names) && areNames(names))
      );
    },
  },
  certificateBoundTokens: DEMAND,
  signedRequests: DEMAND,
  signedResponses: DEMAND,
};

/** Without a name, any certificate of the authority would be the client's. */
function areNames(names: unknown): boolean {
  const known = ["subjectDn", "sanDns", "sanUri", "sanIp", "sanEmail"];
  const entries = Object.entries(Object(names) as Readonly<Record<string, unknown>>);
  return (
    entries.length > 0 && entries.every(([name, value]) => known.includes(name) && TEXT.fits(value))
  );
}

/** @throws TypeError */
export function assertEndpoint(endpoint: Endpoint): void {
  if (!ENDPOINTS.includes(endpoint))
    throw new TypeError(
      `There is no endpoint ${shown(endpoint)}. The endpoints are ${ENDPOINTS.join(", ")}.`,
    );
}

/** @throws TypeError */
export function assertFault(fault: Fault): void {
  const kind: unknown = (fault as Fault | undefined)?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(FAULTS, kind)) {
    throw new TypeError(
      `There is no fault of the kind ${shown(kind)}. The kinds are ${Object.keys(FAULTS).join(", ")}.`,
    );
  }
  assertMembers(`A fault of the kind "${kind}"`, fault, {
    ...OF_EVERY_FAULT,
    ...FAULTS[fault.kind],
  });
}

/** @throws TypeError */
export function assertHold(options: HoldOptions): void {
  assertMembers("A barrier", options, HOLD);
}

/** @throws TypeError */
export function assertLogoutToken(options: LogoutTokenOptions): void {
  assertMembers("A logout token", options, LOGOUT_TOKEN);
}

/** @throws TypeError */
export function assertIssuerPath(path: unknown): void {
  if (path === "" || (typeof path === "string" && /^\/[^?#\s]*$/.test(path))) return;
  throw new TypeError("The option `issuerPath` must be empty or a path, such as /tenant.");
}

/** The options that are no settings. */
const OTHER_OPTIONS = ["person", "people", "clock", "issuerPath", "tls", "mtlsAliases"];

/** Returns how the provider encrypts. @throws TypeError */
export function tlsOptions({ tls = false, mtlsAliases = false }: TlsOptions): Required<TlsOptions> {
  assertValue("The option `tls`", tls, TRUTH);
  assertValue("The option `mtlsAliases`", mtlsAliases, TRUTH);
  if (mtlsAliases && !tls) throw new TypeError("The option `mtlsAliases` needs `tls: true`.");
  return { tls, mtlsAliases };
}

type TlsOptions = Pick<TestProviderOptions, "tls" | "mtlsAliases">;

/** @throws TypeError */
export function assertOptions(given: object): void {
  assertSettings(given, OTHER_OPTIONS);
}

function assertSettings(given: object, others: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(SETTINGS, name));
  if (unknown !== undefined)
    throw new TypeError(
      `A test provider has no option ${shown(unknown)}. Its options are ${[...Object.keys(SETTINGS), ...others].join(", ")}.`,
    );
  for (const [name, value] of Object.entries(given))
    assertValue(`The option \`${name}\``, value, SETTINGS[name as keyof ProviderSettings]);
}

/** Returns the settings as a proxy that throws on an invalid assignment. */
export function checkedSettings(settings: ProviderSettings): ProviderSettings {
  return new Proxy(settings, {
    set(target, name, value) {
      assertSettings({ [name]: value as unknown }, []);
      return Reflect.set(target, name, value);
    },
  });
}

function assertMembers(
  what: string,
  given: object,
  known: Readonly<Record<string, Expected>>,
): void {
  for (const [name, value] of Object.entries(given) as readonly [string, unknown][]) {
    const expected = Object.hasOwn(known, name) ? known[name] : undefined;
    if (expected === undefined)
      throw new TypeError(
        `${what} has no ${shown(name)}; it has ${Object.keys(known).join(", ")}.`,
      );
    if (value !== undefined) assertValue(`${what}: \`${name}\``, value, expected);
  }
}

function assertValue(what: string, value: unknown, { words, fits }: Expected): void {
  if (!fits(value)) throw new TypeError(`${what} must be ${words}.`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value;
}
