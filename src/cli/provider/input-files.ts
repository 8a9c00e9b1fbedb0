/** The files that options of `idpauth provider` name. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Jwk } from "../../index.js";
import { isObject } from "../../record/json.js";
import { isPublicKey, keysIn } from "../../testing/provider/client-keys.js";
import { ADDRESS, type ServerIdentity } from "./provider-server.js";
import type { ProviderUsage } from "./provider-usage.js";
import { codeOf, StartError } from "./start-error.js";

/** @throws StartError */
function readText(option: string, file: string, folder: string): string {
  try {
    return readFileSync(path.resolve(folder, file), "utf8");
  } catch (error) {
    throw new StartError(`${option}: the file ${file} can't be read (${codeOf(error)})`);
  }
}

/**
 * Reads a client's public keys: a JWK set, or a list of JWKs.
 *
 * @param folder relative files are in it
 * @throws StartError the file has no public keys, or a private one
 */
export function readClientJwks(file: string, folder: string): readonly Jwk[] {
  const keys = keysIn(parsed(readText("--client-jwks", file, folder))) ?? [];
  if (keys.length === 0 || !keys.every((key) => isObject(key) && typeof key["kty"] === "string"))
    throw new StartError(
      `--client-jwks: ${file} must be a JWK set, {"keys": […]}, as \`npx idpauth keys\` prints it`,
    );
  if (!keys.every(isPublicKey))
    throw new StartError(
      `--client-jwks: ${file} contains a private or a symmetric key. Give the provider only the public half, as a real one gets it`,
    );
  return keys as readonly Jwk[];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the certificate for https and its key.
 *
 * @param folder relative files are in it
 * @throws StartError browsers and the application would refuse the certificate
 */
export function readIdentity({ tls }: ProviderUsage, folder: string): ServerIdentity | undefined {
  if (tls === undefined) return undefined;
  const cert = readText("--tls-cert", tls.cert, folder);
  const key = readText("--tls-key", tls.key, folder);
  const certificate = certificateIn(cert);
  if (certificate === undefined)
    throw new StartError(`--tls-cert: ${tls.cert} must be a certificate as PEM`);
  if (certificate.checkIP(ADDRESS) === undefined)
    throw new StartError(
      `--tls-cert: the certificate in ${tls.cert} isn't for ${ADDRESS}. Create one that names it, for example: mkcert ${ADDRESS}`,
    );
  return { cert, key };
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
