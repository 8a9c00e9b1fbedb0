// What the settings of a provider from a source violate besides those of any provider: a customer
// may have typed them.
import { parseUrl } from "../http/redirects.js";
import { providerCheck as check, type UnnamedFinding } from "./findings.js";
import type { Values } from "./setting-table.js";

/** What only a provider from a source has. Unchecked. */
interface SourceOnly {
  readonly emailDomains: unknown;
  readonly allowPrivateNetwork: unknown;
}

/** The options whose text may name a file of this machine. */
const MAY_NAME_FILES = [
  "privateKey",
  "certificate",
  "clientCertificate",
  "clientCertificateKey",
] as const;

/**
 * The options that name files. Nothing may read them: a customer could sign with the application's
 * own keys, learn which files exist, or have a device read without end.
 *
 * @param valueOf returns an option, unchecked
 */
export function fileFindings(
  valueOf: (name: (typeof MAY_NAME_FILES)[number]) => unknown,
): UnnamedFinding[] {
  return MAY_NAME_FILES.filter((name) => namesFile(valueOf(name))).map((name) =>
    check(
      "E006",
      ({ label }) => `${label(name)} of a provider from a source can't be the path of a file.`,
      "Read the file yourself, and return its content.",
    ),
  );
}

function namesFile(value: unknown): boolean {
  if (typeof value === "string") return value.trimStart().startsWith("file:");
  // A list in a list has no meaning of its own.
  return Array.isArray(value) && value.some((item) => Array.isArray(item) || namesFile(item));
}

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

export function sourcedFindings(
  { issuer, discoveryUrl }: Values,
  { emailDomains, allowPrivateNetwork }: SourceOnly,
): UnnamedFinding[] {
  const findings: UnnamedFinding[] = [];
  const isElsewhere =
    typeof discoveryUrl === "string" &&
    parseUrl(discoveryUrl)?.origin !== parseUrl(issuer ?? "")?.origin;
  // Otherwise a customer could serve another issuer's document, with keys of their own.
  if (isElsewhere)
    findings.push(
      check(
        "E006",
        ({ label }) => `${label("discoveryUrl")} has another origin than ${label("issuer")}.`,
        "Use an address at the issuer's own origin.",
      ),
    );
  const areDomains =
    emailDomains === undefined ||
    (Array.isArray(emailDomains) &&
      emailDomains.every((domain) => typeof domain === "string" && DOMAIN.test(domain)));
  if (!areDomains)
    findings.push(
      check("E006", "`emailDomains` isn't a list of domains in lower case, such as `acme.com`."),
    );
  if (typeof allowPrivateNetwork !== "boolean")
    findings.push(check("E006", "`allowPrivateNetwork` isn't true or false."));
  return findings;
}
