import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { ENDPOINT_PATHS, isOffered } from "../../testing/provider/endpoint-paths.js";
import { ENDPOINTS, receive, type Endpoint } from "../../testing/provider/received-requests.js";
import { errorReply, send } from "../../testing/provider/replies.js";
import type { DevelopmentProvider } from "./development-provider.js";
import { respond } from "./request-handler.js";

/** The one address that the command ever listens on. */
export const ADDRESS = "127.0.0.1";

/** A certificate and its key, as PEM. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * @param clientAuthority the certificate of the authority of clients' certificates; undefined: no
 *   client is asked for one
 * @throws Error the key is not the certificate's
 */
export function newServer(
  identity: ServerIdentity | undefined,
  clientAuthority: string | undefined,
): Server {
  if (identity === undefined) return createServer();
  if (clientAuthority === undefined) return createSecureServer(identity);
  const { cert, key } = identity;
  // Browsers have no certificate, and the token endpoint looks at the client's.
  return createSecureServer({
    cert,
    key,
    ca: clientAuthority,
    requestCert: true,
    rejectUnauthorized: false,
  });
}

/** @throws Error with the code of the system, such as EADDRINUSE */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, ADDRESS, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export interface Service {
  readonly providers: readonly DevelopmentProvider[];
  /** Milliseconds since the epoch. */
  now(): number;
  /** Keeps what a request changed; called before its response is sent. */
  save(): void;
  /** Tells the operator of a request that failed. */
  failed(error: unknown): void;
}

/** Answers every request from now on. */
export function serve(server: Server, service: Service): void {
  server.on("request", (message, response) => {
    answer(message, response, service).catch((error: unknown) => {
      // A client that leaves in the middle is no failure.
      if (response.destroyed || !message.complete) return void response.destroy();
      service.failed(error);
      if (!response.headersSent)
        send(response, errorReply("server_error", "the provider failed", { status: 500 }));
    });
  });
}

async function answer(
  message: IncomingMessage,
  response: ServerResponse,
  { providers, now, save }: Service,
): Promise<void> {
  let called: DevelopmentProvider | undefined;
  const endpointAt = (path: string): Endpoint | undefined => {
    called = providers.find((provider) => path.startsWith(`${provider.path}/`));
    if (called === undefined) return undefined;
    const [rest, { settings }] = [path.slice(called.path.length), called];
    return ENDPOINTS.find((one) => rest === ENDPOINT_PATHS[one] && isOffered(one, settings));
  };
  const request = await receive(message, endpointAt, now());
  const reply = await respond(request, called, providers);
  if (request.method === "POST" || request.endpoint === "endSession") save();
  send(response, reply);
}
