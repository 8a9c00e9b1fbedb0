/** The certificates of `--mtls`, and their files beside the one that keeps the state. */
import { X509Certificate } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { issueCertificate } from "../../testing/certificates/certificates.js";
import { loopbackCertificate } from "../../testing/certificates/test-certificates.js";
import { clientIdOf, type ClientFiles } from "./development-provider.js";
import type { ServerIdentity } from "./provider-server.js";
import type { ProviderOptions } from "./provider-usage.js";
import { codeOf, StartError } from "./start-error.js";
import type { KeptProvider, KeptState } from "./state-file.js";

const DAY_MS = 86_400_000;

/** What the command's authority has issued. */
export interface Certificates {
  /** Of the provider itself. */
  readonly identity: ServerIdentity;
  /** The authority's certificate, as PEM. */
  readonly authority: string;
  /** The name of the file that contains it. */
  readonly authorityFile: string;
}

/**
 * Issues the provider's certificate and writes the authority's to a file.
 *
 * @param file keeps the state
 * @throws StartError
 */
export function createCertificates(state: KeptState, file: string, now: number): Certificates {
  if (state.authority === undefined || isEnding(state.authority.cert, now)) {
    state.authority = issueCertificate({ commonName: "idpauth provider", use: "authority" });
    // The old authority's are worth nothing to the new one.
    for (const provider of state.providers.values()) delete provider.clientCertificate;
  }
  const { authority } = state;
  const authorityFile = fileBeside(file, "ca.pem");
  write(authorityFile, authority.cert);
  return { identity: loopbackCertificate(authority), authority: authority.cert, authorityFile };
}

/**
 * Writes the client's certificate and its key to files.
 *
 * @throws StartError
 */
export function clientFiles(
  options: ProviderOptions,
  kept: KeptProvider,
  { state, file, now }: { readonly state: KeptState; readonly file: string; readonly now: number },
): ClientFiles {
  const { clientCertificate } = kept;
  const cert =
    clientCertificate !== undefined && !isEnding(clientCertificate, now)
      ? clientCertificate
      : issueCertificate({
          commonName: clientIdOf(options),
          use: "client",
          authority: state.authority,
          key: kept.clientKey,
        }).cert;
  kept.clientCertificate = cert;
  const prefix = options.key === undefined ? "" : `${options.key}-`;
  const files = {
    cert: fileBeside(file, `${prefix}client.pem`),
    key: fileBeside(file, `${prefix}client-key.pem`),
  };
  write(files.cert, cert);
  write(files.key, kept.clientKey);
  return files;
}

/** Whether a certificate is valid for less than a day. */
function isEnding(cert: string, now: number): boolean {
  return Date.parse(new X509Certificate(cert).validTo) < now + DAY_MS;
}

function fileBeside(file: string, name: string): string {
  const { dir, name: base } = path.parse(file);
  return path.join(dir, `${base}-${name}`);
}

function write(file: string, text: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw new StartError(`The file ${file} can't be written (${codeOf(error)})`);
  }
}
