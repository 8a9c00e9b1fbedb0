import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { privateKeys } from "../config/client-key-kinds.js";
import type { ExitCode, Write } from "./check-command.js";

const KEYS_HELP = `Usage: idpauth keys [--type=TYPE] [--file=FILE]

Creates a private key with which the application authenticates at its provider, instead of a client secret (private_key_jwt).
It prints the public half, which you register at the provider, as a JWK set. stdout has only the JWK set.

  --type=TYPE  rsa (default; 2,048 bits, which every provider accepts), ec (P-256) or ed25519
  --file=FILE  where to write the private key; default idp-private-key.pem. An existing file is never overwritten
  -h, --help   prints this text

Exit code: 0 the key is written, 2 wrong usage, or the file exists.
`;

const GENERATORS = {
  rsa: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ec: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ed25519: () => generateKeyPairSync("ed25519"),
};

/**
 * Runs `idpauth keys`.
 *
 * @param argv the arguments after `keys`
 * @param folder relative files are in it
 */
export function keysCommand(argv: readonly string[], folder: string, write: Write): ExitCode {
  const usage = readUsage(argv);
  if (usage === undefined) {
    write(`idpauth keys: unknown arguments\n\n${KEYS_HELP}`, "stderr");
    return 2;
  }
  if (usage.help) {
    write(KEYS_HELP, "stdout");
    return 0;
  }
  const privateKey = GENERATORS[usage.type]()
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  try {
    writeFileSync(path.resolve(folder, usage.file), privateKey, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const { code = "unknown error" } = error as { readonly code?: string };
    const why =
      code === "EEXIST"
        ? "exists already, and is not overwritten. Name another file with --file=FILE"
        : `cannot be written (${code})`;
    write(`idpauth keys: the file ${JSON.stringify(usage.file)} ${why}.\n`, "stderr");
    return 2;
  }
  const keys = privateKeys.fromText(privateKey)?.map(({ publicJwk }) => publicJwk);
  write(
    `The private key is in ${usage.file}, which only you can read. Keep it out of your repository.

In the application's environment, in place of IDP_CLIENT_SECRET:
  IDP_PRIVATE_KEY=file:${usage.file}

At the provider, choose private_key_jwt ("signed JWT", "public key") for the client, and register this public JWK set.
The application publishes it at /idpauth/jwks, an address for the client's jwks_uri.

`,
    "stderr",
  );
  write(`${JSON.stringify({ keys }, undefined, 2)}\n`, "stdout");
  return 0;
}

interface KeysUsage {
  readonly help: boolean;
  readonly type: keyof typeof GENERATORS;
  readonly file: string;
}

/** @returns undefined for arguments that the command does not know */
function readUsage(argv: readonly string[]): KeysUsage | undefined {
  let usage: KeysUsage = { help: false, type: "rsa", file: "idp-private-key.pem" };
  for (const argument of argv) {
    const [name = "", value = ""] = argument.split(/=(.*)/s);
    if (argument === "--help" || argument === "-h") usage = { ...usage, help: true };
    else if (name === "--type" && Object.hasOwn(GENERATORS, value))
      usage = { ...usage, type: value as KeysUsage["type"] };
    else if (name === "--file" && value !== "") usage = { ...usage, file: value };
    else return undefined;
  }
  return usage;
}
