// What no single setting can tell: required ones that are missing, values that contradict each other, and values that are
// allowed but hardly meant.
import { check } from "./check-table.js";
import { quoted } from "./describe-value.js";
import type { Finding } from "./errors.js";
import { isGoogleIssuer } from "./idp-url.js";
import { isLoopback } from "./loopback.js";
import { FIXED_KEYS } from "./record.js";
import { parseUrl } from "./redirects.js";
import { label, type SettingName, type Settings, type Values } from "./setting-table.js";

/** @param unset the settings that nobody has set */
export function settingFindings(values: Values, unset: ReadonlySet<SettingName>): Finding[] {
  return [...missing(unset), ...insecure(values), ...zeroAges(values), ...scopeFindings(values, unset), ...keyNameFindings(values)];
}

function missing(unset: ReadonlySet<SettingName>): Finding[] {
  const findings: Finding[] = [];
  if (unset.has("secretKey")) findings.push(check("E001"));
  const client = (["clientId", "clientSecret"] as const).filter((name) => unset.has(name)).map(label);
  if (client.length > 0)
    findings.push(check("E003", `${client.join(" and ")} ${client.length === 1 ? "is" : "are"} missing, empty or blank.`));
  return findings;
}

function insecure(values: Values): Finding[] {
  const { secretKey, issuer, baseUrl, cookieName, debug } = values;
  const findings: Finding[] = [];
  if (typeof secretKey === "string" && new TextEncoder().encode(secretKey).length < 32) findings.push(check("W002"));
  if (issuer !== undefined && isOpenToListeners(issuer)) findings.push(check(debug === true ? "W011" : "E008"));
  if (baseUrl === null && debug !== true) findings.push(check("W001"));
  if (typeof baseUrl === "string") {
    if (isOpenToListeners(baseUrl)) findings.push(check("W009"));
    if (baseUrl.startsWith("https:") && debug === true) findings.push(check("W010"));
    // Browsers compare the prefixes without regard to letter case.
    if (baseUrl.startsWith("http:") && /^__(?:host|secure)-/i.test(cookieName ?? "")) findings.push(check("E011"));
  }
  return findings;
}

/** http to another machine: anyone on the way can read along. */
function isOpenToListeners(address: string): boolean {
  const url = parseUrl(address);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}

function zeroAges(values: Values): Finding[] {
  return (["sessionMaxAge", "sessionIdleTimeout", "sessionTtl"] as const)
    .filter((name) => values[name] === 0)
    .map((name) => check("W003", `${label(name)} is 0, which is taken literally: the session ends at once.`));
}

/** @param settings complete: with the defaults that follow from other settings */
export function lifetimeFindings(settings: Pick<Settings, "sessionTtl" | "sessionMaxAge" | "sessionIdleTimeout">): Finding[] {
  const caps = (["sessionMaxAge", "sessionIdleTimeout"] as const).filter((name) => (settings[name] ?? -1) >= settings.sessionTtl);
  if (caps.length === 0) return [];
  const seconds = String(settings.sessionTtl);
  return [check("W012", `${label("sessionTtl")} is ${seconds} seconds, not longer than ${caps.map(label).join(" and ")}.`)];
}

function scopeFindings(values: Values, unset: ReadonlySet<SettingName>): Finding[] {
  const { scope, issuer, sessionAutoRefresh } = values;
  if (unset.has("scope")) return [check("E004")];
  if (scope === undefined) return [];
  const findings: Finding[] = [];
  if (!scope.includes("openid")) findings.push(check("E005"));
  if (sessionAutoRefresh === true && issuer !== undefined && !isGoogleIssuer(issuer) && !scope.includes("offline_access")) {
    findings.push(check("W004"));
  }
  return findings;
}

/** What the session objects of hosts have of their own; a key of that name would break the session, or be lost. */
const HOST_SESSION_MEMBERS = [
  "cookie",
  "destroy",
  "encryptedSessionId",
  "get",
  "id",
  "isModified",
  "isSaved",
  "maxAge",
  "options",
  "prototype",
  "regenerate",
  "reload",
  "req",
  "resetMaxAge",
  "save",
  "sessionId",
  "set",
  "touch",
];

const KEY_NAME_SETTINGS = ["credentialsSessionKeyName", "stateKeyName", "finalRedirectKeyName"] as const;

function keyNameFindings(values: Values): Finding[] {
  return KEY_NAME_SETTINGS.flatMap((name, index) => {
    const key = values[name];
    if (key === undefined) return [];
    if (isTaken(key)) return [check("E007", `${label(name)} is ${quoted(key)}, a name that is taken.`)];
    const twin = KEY_NAME_SETTINGS.slice(0, index).find((other) => values[other] === key);
    return twin === undefined ? [] : [check("E007", `${label(twin)} and ${label(name)} are both ${quoted(key)}.`)];
  });
}

function isTaken(key: string): boolean {
  // `in`: what every object inherits, such as __proto__ and constructor.
  return (FIXED_KEYS as readonly string[]).includes(key) || HOST_SESSION_MEMBERS.includes(key) || key in {};
}
