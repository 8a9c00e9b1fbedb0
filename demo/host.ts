import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { IdpAuthOptions, SessionStore } from "idpauth";
import type { DemoConfiguration, Environment } from "./configuration.js";

export interface DemoSetup {
  readonly configuration: Pick<DemoConfiguration, "sessions">;
  /** The demo's defaults included. */
  readonly env: Environment;
  /** Undefined: the package's own choice, or the host's sessions. */
  readonly store: SessionStore | undefined;
}

/** What is given to a server of node:http; some hosts give a promise, which is nobody's concern. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The demo, built the way one host's people build an application. */
export interface DemoApplication {
  readonly listener: Listener;
  /** Resolves once nothing goes on that needs the store or the provider; for after the server is closed. */
  idle(): Promise<void>;
}

/** What every host's `idpAuth` is given. */
export function authOptions({ configuration, env, store }: DemoSetup): IdpAuthOptions {
  return { env, ...(configuration.sessions.kind === "host" && { session: "host" as const }), ...(store && { store }) };
}

/**
 * The secret that a host's session middleware signs its cookies with: a key of its own, derived, never one secret for two
 * purposes.
 *
 * @param middleware its name
 */
export function sessionSecret(env: Environment, middleware: string): string {
  return createHash("sha256")
    .update(`${middleware} ${env["SECRET_KEY"] ?? ""}`)
    .digest("base64url");
}
