// Rules across settings: required settings, values that contradict each other, and values that are
// probably mistakes.
import { check } from "./check-table.js";
import { isInternal } from "./endpoints-kind.js";
import { isCertificateOf, thumbprintInput } from "../keys/client-keys.js";
import { quoted } from "./describe-value.js";
import type { Finding } from "../errors.js";
import { DEFAULT_ISSUER, profileOf } from "./provider-profiles.js";
import { issuerTemplate } from "./tenant-issuers.js";
import { isLoopback } from "../http/loopback.js";
import { FIXED_KEYS } from "../record/stored-form.js";
import { LOGIN_OWN_PARAMETERS, RESERVED_PARAMETERS } from "./parameter-kinds.js";
import { parseUrl } from "../http/redirects.js";
import {
  label,
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type CommonValues,
  type SettingName,
  type Settings,
  type Values,
} from "./setting-table.js";

/** The values of SECRET_KEY in the documentation. They are public, so they are not secrets. */
const PLACEHOLDERS: readonly string[] = [
  "put-at-least-32-random-bytes-here-please",
  "at-least-32-random-bytes-go-here",
];

/**
 * The SECRET_KEY of `idpauth/testing`, which is just as public. Only tests have a provider on this
 * machine.
 */
const TESTING_KEY = "a fixed key, for tests and nowhere else";

/** Bytes of a key, and of the part that a key repeats. */
const SHORTEST = 32;

/**
 * What the settings of one provider violate.
 * @param unset the settings without a value in the environment or in code
 */
export function providerFindings(values: Values, unset: ReadonlySet<SettingName>): Finding[] {
  const { authorizationParams = {} } = values;
  return [
    ...missing(unset),
    ...keyFindings(values, unset),
    ...tenantFindings(values),
    ...insecureProvider(values),
    ...scopeFindings(values, unset),
    ...reserved("authorizationParams", Object.keys(authorizationParams), RESERVED_PARAMETERS),
  ];
}

/** What the settings of the only provider violate, which has no key. @param unset as above */
export function singleFindings(values: Values, unset: ReadonlySet<SettingName>): Finding[] {
  const { clientIdEnd } = profileOf(DEFAULT_ISSUER);
  const { clientId = clientIdEnd } = values;
  return [
    ...(unset.has("issuer") && !clientId.endsWith(clientIdEnd) ? [check("W022")] : []),
    ...providerFindings(values, unset),
  ];
}

/** What the settings that all providers share violate. @param issuers of all providers */
export function commonFindings(
  values: CommonValues,
  unset: ReadonlySet<SettingName>,
  issuers: readonly string[],
): Finding[] {
  const { loginParams = [] } = values;
  return [
    ...(unset.has("secretKey") ? [check("E001")] : []),
    ...insecure(values, issuers),
    ...zeroAges(values),
    ...reserved("loginParams", loginParams, [...RESERVED_PARAMETERS, ...LOGIN_OWN_PARAMETERS]),
    ...keyNameFindings(values),
  ];
}

/**
 * What several providers violate together.
 *
 * @param common what was read without a provider's key
 * @param isRefused whether there are further providers, whose keys are wrong
 */
export function severalFindings(
  common: { readonly values: Values; readonly unset: ReadonlySet<SettingName> },
  providers: readonly { readonly key: string; readonly values: Values }[],
  isRefused: boolean,
): Finding[] {
  const findings: Finding[] = [];
  const { defaultProvider } = common.values;
  const keys = providers.map(({ key }) => key);
  if (!isRefused && typeof defaultProvider === "string" && !keys.includes(defaultProvider))
    findings.push(check("E027", unknownProvider(defaultProvider, keys)));
  const ignored = PROVIDER_SETTING_NAMES.filter(
    (name) => SETTINGS[name].per === "own" && !common.unset.has(name),
  ).map(label);
  if (ignored.length > 0)
    findings.push(
      check("W021", `${ignored.join(", ")}: without a provider's key, this has no effect.`),
    );
  providers.forEach(({ key, values: { issuer, clientId } }, index) => {
    const twin = providers
      .slice(0, index)
      .find(({ values }) => values.issuer === issuer && values.clientId === clientId);
    if (issuer !== undefined && clientId !== undefined && twin !== undefined)
      findings.push(
        check(
          "E028",
          `The providers ${twin.key} and ${key} have the same issuer and the same client ID.`,
        ),
      );
  });
  return findings;
}

/** The cause of E027. */
export function unknownProvider(key: string, keys: readonly string[]): string {
  const known =
    keys.length === 0
      ? "The application has one provider, without a key"
      : `The providers are ${keys.join(", ")}`;
  return `There is no provider ${quoted(key)}. ${known}.`;
}

function missing(unset: ReadonlySet<SettingName>): Finding[] {
  const hasKey = !unset.has("privateKey");
  const client = (["clientId", "clientSecret"] as const)
    .filter((name) => unset.has(name) && (name === "clientId" || !hasKey))
    .map(label);
  return client.length === 0
    ? []
    : [
        check(
          "E003",
          `${client.join(" and ")} ${client.length === 1 ? "is" : "are"} missing, empty or blank.`,
        ),
      ];
}

/** A key replaces the secret and the setting of how the secret is sent. */
function keyFindings(
  { privateKey, certificate }: Values,
  unset: ReadonlySet<SettingName>,
): Finding[] {
  const findings: Finding[] = [];
  const hasKey = !unset.has("privateKey");
  if (hasKey && !unset.has("clientSecret")) findings.push(check("E023"));
  if (hasKey && !unset.has("tokenEndpointAuthMethod")) findings.push(check("E024"));
  const [key] = privateKey ?? [];
  if (certificate && (!hasKey || (key !== undefined && !isCertificateOf(certificate, key))))
    findings.push(check("E025"));
  return findings;
}

/** What the keys of all providers violate together. */
export function publishedFindings(
  { publishKeys }: CommonValues,
  providers: readonly { readonly key: string | undefined; readonly values: Values }[],
): Finding[] {
  const keysOf = ({ privateKey }: Values) =>
    (privateKey ?? []).flatMap(({ publicJwk }) => (publicJwk ? thumbprintInput(publicJwk) : []));
  const shared = providers.flatMap(({ key, values }, index) => {
    const keys = keysOf(values);
    const twin = providers
      .slice(0, index)
      .find((other) => keysOf(other.values).some((one) => keys.includes(one)));
    return twin === undefined
      ? []
      : [
          check(
            "E030",
            `The providers ${String(twin.key)} and ${String(key)} have the same private key.`,
          ),
        ];
  });
  // A refused key is undefined here.
  if (publishKeys !== true || providers.some(({ values }) => values.privateKey === undefined))
    return shared;
  return providers.some(({ values }) => keysOf(values).length > 0)
    ? shared
    : [...shared, check("E026")];
}

function tenantFindings({ issuer, allowedTenants }: Values): Finding[] {
  // A refused value is undefined here.
  if (issuer === undefined || allowedTenants === undefined) return [];
  const isForTenants = issuerTemplate(issuer) !== undefined;
  if (isForTenants === (allowedTenants !== null)) return [];
  return isForTenants
    ? [
        check(
          "E018",
          `${label("issuer")} is Entra ID's address for several tenants, but ${label("allowedTenants")} isn't set.`,
        ),
      ]
    : [
        check(
          "E019",
          `${label("allowedTenants")} is set, but ${label("issuer")} is the issuer of a single tenant, or of another provider.`,
        ),
      ];
}

function weakKeys(
  { secretKey, secretKeyFallbacks }: CommonValues,
  issuers: readonly string[],
): Finding[] {
  const findings: Finding[] = [];
  const isLocal = issuers.every((issuer) => isLoopback(parseUrl(issuer)?.hostname ?? ""));
  if (secretKey !== undefined && isPublished(secretKey, isLocal)) findings.push(check("E013"));
  if (secretKeyFallbacks?.some((key) => isPublished(key, isLocal)) === true) {
    findings.push(
      check(
        "E013",
        `${label("secretKeyFallbacks")} contains a key from the documentation or from idpauth/testing.`,
        "Remove that key. Sessions that were encrypted with it end.",
      ),
    );
  }
  if (typeof secretKey === "string" && isGuessable(secretKey)) findings.push(check("W002"));
  return findings;
}

/** @param isLocal whether the provider is on this machine */
function isPublished(secret: string, isLocal: boolean): boolean {
  const key = secret.trim();
  return PLACEHOLDERS.includes(key) || (!isLocal && key === TESTING_KEY);
}

/**
 * Whether a key is short, or repeats a short part: `000…`, `abcabc…`. The last repetition may be
 * cut off.
 */
function isGuessable(secret: string): boolean {
  const bytes = Buffer.from(secret);
  const longest = Math.min(SHORTEST - 1, Math.floor(bytes.length / 2));
  const repeats = (period: number) => bytes.subarray(period).equals(bytes.subarray(0, -period));
  return (
    bytes.length < SHORTEST ||
    Array.from({ length: longest }, (_, index) => index + 1).some(repeats)
  );
}

/** Whether BASE_URL is an address of this machine. False if it is unset. */
export function isOnThisMachine(baseUrl: string | null | undefined): boolean {
  return typeof baseUrl === "string" && isLoopback(new URL(baseUrl).hostname);
}

// Browsers ignore letter case in the prefixes of cookie names.
const HTTPS_ONLY_NAME = /^__(?:host|secure|http)-/i;
const HOST_BOUND_NAME = /^__host-/i;

function insecureProvider(values: Values): Finding[] {
  const { issuer, debug, discoveryUrl } = values;
  const findings: Finding[] = [];
  if (issuer !== undefined && isUnencrypted(issuer))
    findings.push(check(debug === true ? "W011" : "E008"));
  for (const [name, endpoint] of Object.entries(values.providerMetadata ?? {})) {
    const message = `The ${name} in ${label("providerMetadata")} is an http address of another machine. Secrets and tokens are sent unencrypted.`;
    if (isUnencrypted(endpoint) && !isInternal(name, new URL(endpoint), discoveryUrl))
      findings.push(check(debug === true ? "W011" : "E008", message));
  }
  if (typeof discoveryUrl === "string" && isUnencrypted(discoveryUrl)) findings.push(check("W024"));
  return findings;
}

function insecure(values: CommonValues, issuers: readonly string[]): Finding[] {
  const { baseUrl, debug } = values;
  const findings: Finding[] = weakKeys(values, issuers);
  if (baseUrl === null) findings.push(check("W001"));
  if (typeof baseUrl === "string" && isUnencrypted(baseUrl)) findings.push(check("W009"));
  // A refused BASE_URL is undefined here.
  if (debug === true && baseUrl !== undefined && !isOnThisMachine(baseUrl))
    findings.push(check("W010"));
  return [...findings, ...cookieNameFindings(values)];
}

function cookieNameFindings({ baseUrl, cookieName }: CommonValues): Finding[] {
  if (typeof cookieName !== "string" || baseUrl === undefined) return [];
  const isHttps = baseUrl?.startsWith("https:") === true;
  if (!isHttps) return HTTPS_ONLY_NAME.test(cookieName) ? [check("E011")] : [];
  return HOST_BOUND_NAME.test(cookieName) ? [] : [check("W013")];
}

/** Whether an address is http on another machine: the network can read the traffic. */
function isUnencrypted(address: string): boolean {
  const url = parseUrl(address);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}

function zeroAges(values: CommonValues): Finding[] {
  return (["sessionMaxAge", "sessionIdleTimeout", "sessionTtl"] as const)
    .filter((name) => values[name] === 0)
    .map((name) =>
      check("W003", `${label(name)} is 0 seconds, so each session ends as soon as it begins.`),
    );
}

/** @param settings with all defaults */
export function lifetimeFindings(
  settings: Pick<Settings, "sessionTtl" | "sessionMaxAge" | "sessionIdleTimeout">,
): Finding[] {
  const limits = (["sessionMaxAge", "sessionIdleTimeout"] as const).filter(
    (name) => (settings[name] ?? -1) >= settings.sessionTtl,
  );
  if (limits.length === 0) return [];
  const seconds = String(settings.sessionTtl);
  return [
    check(
      "W012",
      `${label("sessionTtl")} is ${seconds} seconds, which isn't longer than ${limits.map(label).join(" and ")}.`,
    ),
  ];
}

function scopeFindings(values: Values, unset: ReadonlySet<SettingName>): Finding[] {
  const { scope, issuer, sessionAutoRefresh } = values;
  if (unset.has("scope")) return [check("E004")];
  if (scope === undefined) return [];
  const findings: Finding[] = [];
  if (!scope.includes("openid")) findings.push(check("E005"));
  if (
    sessionAutoRefresh === true &&
    issuer !== undefined &&
    profileOf(issuer).offline === "offline_access" &&
    !scope.includes("offline_access")
  ) {
    findings.push(check("W004"));
  }
  return findings;
}

function reserved(
  setting: SettingName,
  names: readonly string[],
  taken: readonly string[],
): Finding[] {
  const found = names.filter((name) => taken.includes(name.toLowerCase()));
  if (found.length === 0) return [];
  return [
    check(
      "E016",
      `${label(setting)} contains ${found.map(quoted).join(", ")}, which idpauth uses itself.`,
    ),
  ];
}

/**
 * The members of frameworks' session objects. A key of that name would break the session or be
 * lost.
 */
const FRAMEWORK_SESSION_MEMBER =
  /^(?:cookie|destroy|encryptedSessionId|get|id|isModified|isSaved|maxAge|options|prototype|regenerate|reload|req|resetMaxAge|save|sessionId|set|touch)$/;

const KEY_NAME_SETTINGS = [
  "credentialsSessionKeyName",
  "stateKeyName",
  "finalRedirectKeyName",
] as const;

function keyNameFindings(values: CommonValues): Finding[] {
  return KEY_NAME_SETTINGS.flatMap((name, index) => {
    const key = values[name];
    if (key === undefined) return [];
    if (isTaken(key)) return [check("E007", `${label(name)} is ${quoted(key)}, a reserved name.`)];
    const twin = KEY_NAME_SETTINGS.slice(0, index).find((other) => values[other] === key);
    return twin === undefined
      ? []
      : [check("E007", `${label(twin)} and ${label(name)} are both ${quoted(key)}.`)];
  });
}

function isTaken(key: string): boolean {
  // `in` also finds inherited members, such as __proto__ and constructor.
  return (
    (FIXED_KEYS as readonly string[]).includes(key) ||
    FRAMEWORK_SESSION_MEMBER.test(key) ||
    key in {}
  );
}
