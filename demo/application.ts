import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { IdpAuthOptions, IdpRequest, SessionStore } from "idpauth";
import type { AccessConfiguration, DemoConfiguration, Environment } from "./configuration.js";
import { deviceName } from "./device-name.js";
import { signInHook, type DemoData } from "./sign-in-hook.js";
import type { Switches } from "./switches.js";

export interface DemoSetup {
  readonly configuration: AccessConfiguration & Pick<DemoConfiguration, "sessions">;
  /** The demo's defaults included. */
  readonly env: Environment;
  /** Undefined: the package chooses the store, or the framework keeps the sessions. */
  readonly store: SessionStore | undefined;
  /** The switches of `store`. Undefined: it has none. */
  readonly switches?: Switches | undefined;
  /** The demo's own providers, if it has several: `staff` and `customers`. */
  readonly providers?: IdpAuthOptions["providers"] | undefined;
  /** The address of the orders API. Undefined: it doesn't run, so nothing is passed on to it. */
  readonly orders?: string | undefined;
}

/**
 * A request listener for a node:http server. Some frameworks return a promise, which is ignored.
 */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The demo as an application of one framework. */
export interface DemoApplication {
  readonly listener: Listener;
  /** Responds to a request for a WebSocket. Undefined: `listener` does. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Passes a request for a WebSocket of the orders API on. Returns false for any other request. */
  readonly proxyUpgrade?:
    ((request: IncomingMessage, socket: Duplex, head: Buffer) => boolean) | undefined;
  /**
   * Ends what is open: see `auth.close`. The store is needed until this has resolved and the server
   * has closed.
   */
  close(): Promise<void>;
}

/** Returns the options for every adapter's `idpAuth`. */
export function authOptions({
  configuration,
  env,
  store,
  providers,
  orders,
}: DemoSetup): IdpAuthOptions<object, DemoData> {
  const { sessions, rule, loginParams } = configuration;
  const onSignIn = signInHook(rule);
  return {
    env,
    ...(sessions.kind === "host"
      ? { session: "host" as const }
      : { sessionLabel: (request: IdpRequest) => deviceName(request.header("user-agent")) }),
    ...(store && { store }),
    ...(providers && { providers }),
    ...(orders !== undefined && {
      apis: { orders: { url: orders, path: "/api/orders/", methods: ["GET", "POST"] } },
    }),
    ...(loginParams && { loginParams }),
    ...(onSignIn && { onSignIn }),
  };
}

/**
 * Returns the secret that a framework's session middleware signs its cookies with. It is derived,
 * so that no secret has two purposes.
 *
 * @param middleware its name
 */
export function sessionSecret(env: Environment, middleware: string): string {
  return createHash("sha256")
    .update(`${middleware} ${env["SECRET_KEY"] ?? ""}`)
    .digest("base64url");
}
