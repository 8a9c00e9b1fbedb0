// What the settings that all providers share violate: required settings, values that contradict
// each other, and values that are probably mistakes.
import type { Finding } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import { parseUrl } from "../http/redirects.js";
import { FIXED_KEYS } from "../record/stored-form.js";
import { secretKeyFindings } from "./check-secret-key.js";
import { quoted } from "./describe-value.js";
import { check, named } from "./findings.js";
import { LOGIN_PARAMETER_NAMES } from "./login-parameters.js";
import { RESERVED_PARAMETERS, reserved } from "./reserved-parameters.js";
import { SETTING_NAMES } from "./setting-names.js";
import type { CommonValues, SettingName, Settings } from "./setting-table.js";

const { label } = SETTING_NAMES;

/**
 * What the settings that all providers share violate.
 *
 * @param now epoch seconds; `issuers`: of all providers
 */
export function commonFindings(
  values: CommonValues,
  unset: ReadonlySet<SettingName>,
  { issuers, now }: { readonly issuers: readonly string[]; readonly now: number },
): Finding[] {
  const { loginParams = [] } = values;
  return [
    ...secretKeyFindings(values, unset, issuers),
    ...insecure(values),
    ...zeroAges(values),
    ...reserved("loginParams", loginParams, [...RESERVED_PARAMETERS, ...LOGIN_PARAMETER_NAMES]).map(
      (finding) => named(finding),
    ),
    ...keyNameFindings(values),
    ...((values.sessionsNotBefore ?? 0) > now ? [check("E022")] : []),
  ];
}

/** The origins that are known at the start. Undefined: BASE_URL is unset, or a function. */
export function originsIn(baseUrl: CommonValues["baseUrl"]): readonly string[] | undefined {
  return typeof baseUrl === "string" ? [baseUrl] : baseUrl?.list;
}

/** Whether BASE_URL consists of addresses of this machine. False if it is unset. */
export function isOnThisMachine(baseUrl: CommonValues["baseUrl"]): boolean {
  return originsIn(baseUrl)?.every((origin) => isLoopback(new URL(origin).hostname)) === true;
}

// Browsers ignore letter case in the prefixes of cookie names.
const HTTPS_ONLY_NAME = /^__(?:host|secure|http)-/i;
const HOST_BOUND_NAME = /^__host-/i;

function insecure(values: CommonValues): Finding[] {
  const { baseUrl, debug } = values;
  const findings: Finding[] = [];
  if (baseUrl === null) findings.push(check("W001"));
  if (originsIn(baseUrl)?.some(isUnencrypted) === true) findings.push(check("W009"));
  // A refused BASE_URL is undefined here.
  if (debug === true && baseUrl !== undefined && !isOnThisMachine(baseUrl))
    findings.push(check("W010"));
  return [
    ...findings,
    ...cookieNameFindings(values),
    ...foreignRedirects(values),
    ...callbackFindings(values),
  ];
}

function callbackFindings({ baseUrl, callbackOrigin }: CommonValues): Finding[] {
  if (typeof callbackOrigin !== "string") return [];
  return [
    ...(baseUrl === null || typeof baseUrl === "string" ? [check("E037")] : []),
    ...(isUnencrypted(callbackOrigin)
      ? [
          check(
            "W009",
            `${label("callbackOrigin")} is an http address of another machine, so the provider's responses are sent unencrypted.`,
            "Use the https address.",
          ),
        ]
      : []),
  ];
}

function cookieNameFindings({ baseUrl, cookieName }: CommonValues): Finding[] {
  if (typeof cookieName !== "string" || baseUrl === undefined) return [];
  const isSeveral = baseUrl !== null && typeof baseUrl !== "string";
  const isHostBound = HOST_BOUND_NAME.test(cookieName);
  // A function has to name https origins for a name with a prefix.
  const schemes = originsIn(baseUrl)?.map(isHttps) ?? [isSeveral];
  if (HTTPS_ONLY_NAME.test(cookieName) && schemes.includes(false)) return [check("E011")];
  if (isHostBound || !schemes.includes(true)) return [];
  return [check(isSeveral ? "E035" : "W013")];
}

const isHttps = (origin: string) => origin.startsWith("https:");

/** With several origins, no redirect setting leads to a host that isn't one of them. */
function foreignRedirects(values: CommonValues): Finding[] {
  const { baseUrl } = values;
  if (baseUrl === null || baseUrl === undefined || typeof baseUrl === "string") return [];
  return (["authFinalRedirectUrl", "authLogoutRedirectUrl"] as const).flatMap((name) => {
    const url = parseUrl(values[name] ?? "");
    return url === undefined || baseUrl.has(url.origin)
      ? []
      : [
          check(
            "E036",
            `${label(name)} is an address at ${quoted(url.origin)}, ${baseUrl.list === undefined ? "but BASE_URL (option baseUrl) is a function, so nothing tells whether that is one of its origins" : "which isn't in BASE_URL (option baseUrl)"}.`,
          ),
        ];
  });
}

/** Whether an address is http on another machine: the network can read the traffic. */
export function isUnencrypted(address: string): boolean {
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
