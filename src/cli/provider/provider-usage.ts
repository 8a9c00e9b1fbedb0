import { isTenant } from "../../config/tenant-issuers.js";
import { isLoopback } from "../../testing/loopback-hostname.js";
import type { NonceDemand } from "../../testing/provider/dpop-nonces.js";
import type { PersonClaims } from "../../testing/provider/people.js";
import { defaultPeople, readPerson } from "./choosable-people.js";
import { readCommandLine, UsageMistake, type CommandLine } from "./command-line.js";

/** What the command line of `idpauth provider` says. */
export interface ProviderUsage {
  readonly help: boolean;
  readonly port: number;
  /** One provider without a key, or several with one each. */
  readonly providers: readonly ProviderOptions[];
  /** Undefined: no file is written. */
  readonly writeEnv: string | undefined;
  readonly data: string | undefined;
  /** The application's origin. Undefined: the settings name a usual one. */
  readonly baseUrl: string | undefined;
  /** The files of the certificate and its key; undefined: the provider has no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

/** What the command line says about one provider. */
export interface ProviderOptions {
  /** Undefined: the only provider. */
  readonly key: string | undefined;
  readonly people: readonly PersonClaims[];
  /** Undefined: every redirect URI on this machine, or of the application's origin. */
  readonly redirectUris: readonly string[] | undefined;
  /**
   * How the client authenticates: with a secret, with a key or a certificate that the command
   * creates, or with the keys in a file.
   */
  readonly client: "secret" | "key" | "certificate" | { readonly jwks: string };
  /** Whether tokens are bound to a key (RFC 9449). */
  readonly dpop: boolean;
  readonly dpopNonce: NonceDemand;
  /** Whether tokens are bound to the client's certificate (RFC 8705). */
  readonly mtls: boolean;
  /** Whether the provider is one of the FAPI 2.0 Security Profile. */
  readonly fapi: boolean;
  readonly pushedRequests: boolean;
  readonly requirePushedRequests: boolean;
  readonly accessTokens: "jwt" | "opaque";
  readonly consent: boolean;
  readonly tokenSeconds: number;
  /** The application's address for logout tokens; undefined: the provider sends none. */
  readonly backchannelLogoutUri: string | undefined;
  /** Undefined: the provider has one issuer. */
  readonly tenant: string | undefined;
}

/** @param argv the arguments after `provider` */
export function readProviderUsage(
  argv: readonly string[],
): ProviderUsage | { readonly mistake: string } {
  try {
    return usageIn(readCommandLine(argv));
  } catch (error) {
    if (error instanceof UsageMistake) return { mistake: error.message };
    throw error;
  }
}

function usageIn(line: CommandLine): ProviderUsage {
  const writeEnv = line.value("write-env");
  const providers = (line.keys ?? [undefined]).map((key) => optionsOf(key, line));
  const port = wholeNumber("port", line.value("port") ?? "9400", { least: 0, most: 65_535 });
  const data = line.value("data");
  if (providers.some(({ mtls }) => mtls) && port === 0 && data === undefined)
    throw new UsageMistake(
      "--mtls writes certificates beside the file of --data; with --port=0, name it: --data=FILE",
    );
  // Entra ID's issuer has a fixed path.
  const [tenants] = providers.filter(({ tenant }) => tenant !== undefined).slice(1);
  if (tenants !== undefined)
    throw new UsageMistake("only one provider can have --tenant, because its path is Entra ID's");
  return {
    help: line.has("help"),
    port,
    providers,
    writeEnv: writeEnv === "" ? ".env" : writeEnv,
    data,
    baseUrl: baseUrlIn(line.value("base-url")),
    tls: tlsIn(line),
  };
}

function optionsOf(key: string | undefined, line: CommandLine): ProviderOptions {
  const value = (name: string) => line.value(name, key);
  // Of several providers, each has a domain of its own, as two companies have.
  const domain = key === undefined ? "example.com" : `${key}.example`;
  const people = line.values("person", key)?.map(personIn) ?? defaultPeople(domain);
  const emails = people.map((person) => person["email"]);
  if (new Set(emails).size < emails.length)
    throw new UsageMistake("two people have the same email address");
  return {
    key,
    people,
    redirectUris: line.values("redirect-uri", key)?.map(redirectUriIn),
    client: clientIn(key, line),
    ...assuranceIn(key, line),
    pushedRequests: line.has("pushed-requests", key),
    requirePushedRequests: line.has("require-pushed-requests", key) || line.has("fapi", key),
    accessTokens: accessTokensIn(value("access-tokens")),
    consent: line.has("consent", key),
    tokenSeconds: wholeNumber("token-seconds", value("token-seconds") ?? "3600", {
      least: 1,
      most: 365 * 86_400,
    }),
    backchannelLogoutUri: logoutUriIn(value("backchannel-logout-uri")),
    tenant: tenantIn(value("tenant")),
  };
}

function wholeNumber(
  name: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageMistake(
    `--${name} is ${JSON.stringify(text)}; it must be a whole number from ${least} to ${most}`,
  );
}

function personIn(text: string): PersonClaims {
  const person = readPerson(text);
  if (person !== undefined) return person;
  throw new UsageMistake(
    `--person is ${JSON.stringify(text)}; write it as "Ada Lovelace <ada@example.com>"`,
  );
}

function clientIn(key: string | undefined, line: CommandLine): ProviderOptions["client"] {
  const jwks = line.value("client-jwks", key);
  const isCreated = line.has("client-key", key);
  if (jwks === undefined) {
    if (isCreated) return "key";
    if (line.has("mtls", key)) return "certificate";
    return line.has("fapi", key) ? "key" : "secret";
  }
  if (isCreated)
    throw new UsageMistake(
      "--client-key creates a key, and --client-jwks has yours; use one of them",
    );
  return { jwks };
}

/** FAPI 2.0 binds tokens in one of two ways (section 5.3.2.1). */
function assuranceIn(
  key: string | undefined,
  line: CommandLine,
): Pick<ProviderOptions, "dpop" | "dpopNonce" | "mtls" | "fapi"> {
  const [fapi, mtls] = [line.has("fapi", key), line.has("mtls", key)];
  const dpop = line.has("dpop", key) || (fapi && !mtls);
  const nonce = line.value("dpop-nonce", key);
  if (nonce !== undefined && !dpop) throw new UsageMistake("--dpop-nonce needs --dpop");
  return { dpop, dpopNonce: nonceIn(nonce), mtls, fapi };
}

function nonceIn(text = "rotates"): NonceDemand {
  const demand = NONCE_DEMANDS.find((one) => one === text);
  if (demand !== undefined) return demand;
  throw new UsageMistake(
    `--dpop-nonce is ${JSON.stringify(text)}; it must be ${NONCE_DEMANDS.join(", ")}`,
  );
}

const NONCE_DEMANDS = ["none", "always", "rotates", "refresh"] as const;

function accessTokensIn(text = "jwt"): ProviderOptions["accessTokens"] {
  if (text === "jwt" || text === "opaque") return text;
  throw new UsageMistake(`--access-tokens is ${JSON.stringify(text)}; it must be jwt or opaque`);
}

function tlsIn(line: CommandLine): ProviderUsage["tls"] {
  const [cert, key] = [line.value("tls-cert"), line.value("tls-key")];
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageMistake("--tls-cert and --tls-key need each other");
}

function tenantIn(text: string | undefined): string | undefined {
  if (text === undefined || isTenant(text)) return text;
  throw new UsageMistake(
    `--tenant is ${JSON.stringify(text)}; write a GUID in lower case, such as 11111111-2222-4333-8444-555555555555`,
  );
}

function baseUrlIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const origin = URL.canParse(text) ? new URL(text).origin : "";
  if (/^https?:\/\//.test(origin) && text.replace(/\/$/, "") === origin) return origin;
  throw new UsageMistake(
    `--base-url is ${JSON.stringify(text)}; write the origin that browsers use, such as https://app.example`,
  );
}

function redirectUriIn(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !text.includes("#"))
    return text;
  throw new UsageMistake(
    `--redirect-uri is ${JSON.stringify(text)}; write it as http://localhost:3000/idpauth/login-callback`,
  );
}

function logoutUriIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { protocol, hostname, hash } = URL.canParse(text)
    ? new URL(text)
    : { protocol: "", hostname: "", hash: "" };
  if (/^https?:$/.test(protocol) && isLoopback(hostname) && hash === "") return text;
  throw new UsageMistake(
    `--backchannel-logout-uri is ${JSON.stringify(text)}; write an address on this machine, such as ` +
      "http://localhost:3000/idpauth/backchannel-logout",
  );
}
