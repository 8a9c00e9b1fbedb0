// What the settings for mutual TLS (RFC 8705) violate: of one provider, and of the APIs that get its
// certificate.
import type { Finding } from "../errors.js";
import {
  clientTlsOf,
  isKeyOf,
  type CertificateSettings,
  type ClientTls,
} from "../keys/client-certificate.js";
import { check, named, providerCheck, type UnnamedFinding } from "./findings.js";
import type { SettingNames } from "./setting-names.js";
import type { ProviderSettings, Values } from "./setting-table.js";

/** Whether the client authenticates with its certificate (RFC 8705 section 2). */
export function authenticatesByTls(
  method: ProviderSettings["tokenEndpointAuthMethod"] | undefined,
): boolean {
  return method === "tls_client_auth" || method === "self_signed_tls_client_auth";
}

/** What the settings of one provider violate. A refused value is undefined here. */
export function certificateFindings(values: Values): UnnamedFinding[] {
  const { clientCertificate, clientCertificateKey, tokenEndpointAuthMethod, issuer } = values;
  if (clientCertificate === undefined || clientCertificateKey === undefined) return [];
  if (clientCertificate === null && clientCertificateKey === null)
    return authenticatesByTls(tokenEndpointAuthMethod) ? [missingFor(values)] : [];
  if (clientCertificate === null || clientCertificateKey === null)
    return [halfOf(clientCertificate === null)];
  const findings: UnnamedFinding[] = [];
  if (clientCertificateKey.publicKey === undefined) findings.push(ENCRYPTED);
  if (!isKeyOf(clientCertificateKey, clientCertificate)) findings.push(OTHER_KEY);
  if (issuer?.startsWith("http:") === true) findings.push(UNENCRYPTED);
  return findings;
}

function missingFor({ tokenEndpointAuthMethod }: Values): UnnamedFinding {
  return providerCheck(
    "E039",
    ({ label }) =>
      `${label("tokenEndpointAuthMethod")} is \`${String(tokenEndpointAuthMethod)}\`, but ${label("clientCertificate")} isn't set.`,
    ({ env }) =>
      `Set ${env("clientCertificate")} and ${env("clientCertificateKey")}, or choose another method in ${env("tokenEndpointAuthMethod")}.`,
  );
}

function halfOf(isCertificate: boolean): UnnamedFinding {
  const [set, unset] = isCertificate
    ? (["clientCertificateKey", "clientCertificate"] as const)
    : (["clientCertificate", "clientCertificateKey"] as const);
  return providerCheck(
    "E039",
    ({ label }) => `${label(set)} is set, but ${label(unset)} isn't.`,
    ({ env }) => `Set ${env(unset)} too, or remove ${env(set)}.`,
  );
}

const ENCRYPTED = providerCheck(
  "E039",
  ({ label }) => `${label("clientCertificateKey")} is encrypted with a passphrase.`,
  "Use it without one: `openssl pkey -in key.pem -out plain.pem`.",
);

const OTHER_KEY = providerCheck(
  "E039",
  ({ label }) =>
    `${label("clientCertificateKey")} isn't the key of the first certificate in ${label("clientCertificate")}.`,
  ({ env }) =>
    `Put the client's own certificate first in ${env("clientCertificate")}, those of its authorities after it, and set ${env("clientCertificateKey")} to its key.`,
);

const UNENCRYPTED = providerCheck(
  "E039",
  ({ label }) =>
    `${label("clientCertificate")} is set, but ${label("issuer")} is an http address, where no certificate is ever shown.`,
  ({ env }) => `Use the provider's https address, or remove ${env("clientCertificate")}.`,
);

/** Days before its end in which a certificate is warned of. */
const WARNED_DAYS = 30;
const DAY_SECONDS = 86_400;

/** Certificates that end soon. @param now epoch seconds */
export function expiryFindings(
  providers: readonly { readonly values: Values; readonly names: SettingNames }[],
  now: number,
): Finding[] {
  return providers.flatMap(({ values: { clientCertificate }, names }) => {
    const left = ((clientCertificate?.expiresAt ?? Infinity) - now) / DAY_SECONDS;
    if (left >= WARNED_DAYS || !Number.isFinite(now)) return [];
    const when = left < 0 ? "has expired" : `expires in ${daysInWords(left)}`;
    return named(
      providerCheck(
        "W027",
        ({ label }) => `The certificate in ${label("clientCertificate")} ${when}.`,
      ),
      names,
    );
  });
}

function daysInWords(left: number): string {
  const days = Math.floor(left);
  if (days === 0) return "less than a day";
  return days === 1 ? "1 day" : `${String(days)} days`;
}

/** A provider whose certificate an API may get. */
interface CertificateOwner {
  readonly key: string | undefined;
  readonly settings: Partial<CertificateSettings>;
}

/** Returns what connections to an API show. A function, so that nobody prints the key by mistake. */
export type ApiCertificate = () => ClientTls;

/** What an API says of its certificate. */
interface MarkedApi {
  readonly api: string;
  readonly url: URL;
  /** The key of the provider whose users may use it. Undefined: any. */
  readonly provider: string | undefined;
  readonly dispatcher: unknown;
}

/** The providers whose certificates APIs may get. */
export interface CertificateOwners {
  readonly providers: readonly CertificateOwner[];
  /** Whether a source has further providers. */
  readonly hasSource: boolean;
}

/**
 * Returns the certificate with which requests go to an API that has `certificate: true`: that of its
 * registration, which must be the same for all its users.
 */
export function certificateFor(
  { api, url, provider, dispatcher }: MarkedApi,
  { providers, hasSource }: CertificateOwners,
): ApiCertificate | Finding {
  const mistake = (what: string, remedy: string) =>
    check("E039", `\`apis.${api}\` has \`certificate: true\`, but ${what}.`, remedy);
  if (url.protocol !== "https:")
    return mistake(
      "its `url` is an http address, where no certificate is ever shown",
      "Use the API's https address, or remove `certificate`.",
    );
  if (dispatcher !== undefined)
    return mistake(
      "also a `dispatcher`, which opens the connections itself",
      "Give the dispatcher the certificate, and remove `certificate`. Otherwise, remove `dispatcher`.",
    );
  const chosen = providers.filter(({ key }) => provider === undefined || key === provider);
  const found = chosen.map(({ settings }) =>
    clientTlsOf({ clientCertificate: null, clientCertificateKey: null, ...settings }),
  );
  const [first, ...others] = found;
  if (first === undefined || others.includes(undefined)) {
    const { key } = chosen[found.indexOf(undefined)] ?? {};
    return mistake(
      key === undefined
        ? "IDP_CLIENT_CERTIFICATE (option clientCertificate) isn't set"
        : `the provider ${key} has no \`clientCertificate\``,
      "Set the certificate and its key, name in `provider` the one that has a certificate, or remove `certificate`.",
    );
  }
  const isSame = others.every((other) => other?.cert === first.cert && other.key === first.key);
  if (isSame && (provider !== undefined || !hasSource)) return () => first;
  return mistake(
    `it doesn't name a \`provider\`, and ${isSame ? "a source has further providers" : "the providers have different certificates"}`,
    "Name in `provider` the key of the provider whose users may use the API.",
  );
}
