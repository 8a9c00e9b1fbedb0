import { isDeepStrictEqual } from "node:util";
import { PROVIDER_PROFILES, profileOf } from "../../config/provider-profiles.js";
import { SETTINGS, type SettingName } from "../../config/read-settings.js";
import type { Finding } from "../../errors.js";
import { parseUrl } from "../../http/redirects.js";
import type { ProviderResult, ProviderTarget } from "../../live/check-provider.js";
import type { LiveFacts } from "../../live/live-facts.js";
import type { Exchange } from "../../live/timed-fetch.js";
import type { Document } from "../../provider/endpoints-in-use.js";
import { harmlessOf, isHarmless } from "./harmless-words.js";

/** What was found about one provider. */
export interface CheckedProvider extends ProviderResult {
  readonly target: ProviderTarget;
}

export interface ReportedCheck {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly findings: readonly Finding[];
  readonly providers: readonly CheckedProvider[];
}

/** The facts without an address or a name in them. */
const FACTS = [
  "client",
  "redirectUriRegistered",
  "refreshToken",
  "requests",
  "pkce",
  "iss",
  "assurance",
  "logout",
  "clockOffset",
] as const satisfies readonly (keyof LiveFacts)[];

/** The endpoints of the document to which the check sends a request. */
const ENDPOINTS = ["token_endpoint", "jwks_uri", "pushed_authorization_request_endpoint"];

/**
 * Returns a report in Markdown that a user may show to strangers. All that it takes from the
 * settings and the provider is a number, a boolean, a setting's choice, or consists of listed
 * words.
 */
export function providerReport({ version, now, findings, providers }: ReportedCheck): string {
  const { node } = process.versions;
  return [
    "# Report of `idpauth check --live`",
    "Addresses, names and values of your own are left out, or replaced by `*`.",
    items([
      `idpauth ${version}, Node.js ${node}, ${process.platform} ${process.arch}`,
      new Date(now).toISOString().slice(0, 10),
    ]),
    ...section("Findings", findings.map(findingLine)),
    ...providers.flatMap((one) => [
      ...section("Provider", providerLines(one)),
      ...section("Settings", settingLines(one.target)),
      ...section("Facts", factLines(one.facts)),
      ...section("Discovery document", documentLines(one)),
      ...section(
        "Requests",
        one.exchanges.map((exchange) => requestLine(exchange, one.document)),
      ),
    ]),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [`## ${title}`, items(lines)];
}

function items(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}\n`).join("") || "None.\n";
}

/** Of a message, only the status and an error code. */
function findingLine({ code, severity, message }: Finding): string {
  const reasons = message.match(/\bstatus \d{3}\b|(?<=\()[a-z_]+(?=\))/g) ?? [];
  return [
    `${code} ${severity}`,
    ...reasons.filter((reason) => reason.startsWith("status") || isHarmless(reason)),
  ].join(", ");
}

function providerLines({ document = {}, target: { settings, refused } }: CheckedProvider) {
  const { issuer } = settings;
  const { authorization_endpoint } = document as { readonly authorization_endpoint?: string };
  const profile = profileOf(issuer, { authorization_endpoint });
  const [name] = Object.entries(PROVIDER_PROFILES).find(([, one]) => one === profile) ?? ["none"];
  const host = profile.sharesHosts ? parseUrl(issuer)?.hostname : "your-tenant.example";
  return refused.has("issuer") ? [] : [`Profile: ${name}`, `Issuer: ${host ?? ""}`];
}

/** Those that differ from their defaults. */
function settingLines({ settings, refused }: ProviderTarget): readonly string[] {
  return (Object.keys(SETTINGS) as SettingName[]).flatMap((name) => {
    const { env, kind, default: standard } = SETTINGS[name];
    const value = settings[name];
    if (refused.has(name)) return `${env}: missing, or can't be used`;
    if (value === "" || isDeepStrictEqual(value, standard)) return [];
    const isShown = /\b(?:boolean|choice|integer|number)\b/.test(kind.type);
    return `${env}: ${isShown ? JSON.stringify(value) : "set"}`;
  });
}

function factLines(facts: LiveFacts): readonly string[] {
  const { scope = "", prompt = "" } = facts.login ?? {};
  return [
    ...FACTS.map((name) => `${name}: ${JSON.stringify(facts[name])}`),
    `scope: ${harmlessOf(scope.split(" "))}`,
    `prompt: ${harmlessOf([prompt])}`,
  ];
}

function documentLines({ document = {}, target }: CheckedProvider): readonly string[] {
  const names = Object.keys(document);
  const shown = names.filter(isHarmless).slice(0, 100);
  const origin = parseUrl(target.settings.issuer)?.origin;
  return [
    ...shown.map((name) => `${name}: ${shownValue(document[name], origin)}`),
    `(other fields): ${String(names.length - shown.length)}`,
  ];
}

/** @param origin of the issuer */
function shownValue(value: unknown, origin: string | undefined): string {
  if (Array.isArray(value)) return harmlessOf(value);
  if (typeof value !== "string") return typeof value === "boolean" ? String(value) : typeof value;
  const url = parseUrl(value);
  if (url === undefined) return "string";
  const parts = url.pathname.split("/").map((part) => (isHarmless(part) ? part : "*"));
  return `${url.origin === origin ? "same" : "other"} origin as issuer, \`${parts.join("/")}\``;
}

function requestLine(exchange: Exchange, document: Document = {}): string {
  const { method, address, status, sentAt, receivedAt } = exchange;
  const to = ENDPOINTS.find((name) => document[name] === address) ?? "discovery document";
  return `${method} ${to}: status ${String(status)}, ${String(receivedAt - sentAt)} ms`;
}
