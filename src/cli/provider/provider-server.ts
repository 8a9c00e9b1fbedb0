import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Grants } from "../../testing/provider/grants.js";
import type { PersonClaims } from "../../testing/provider/people.js";
import { ENDPOINT_PATHS, isOffered } from "../../testing/provider/provider-endpoints.js";
import type { ProviderSessions } from "../../testing/provider/provider-sessions.js";
import { PushedRequests } from "../../testing/provider/pushed-requests.js";
import { ENDPOINTS, receive } from "../../testing/provider/received-requests.js";
import { errorReply, send } from "../../testing/provider/replies.js";
import type { SigningKeys } from "../../testing/provider/signing-keys.js";
import {
  defaultSettings,
  type ProviderSettings,
} from "../../testing/provider/test-provider-settings.js";
import type { ProviderHooks, ProviderState } from "../../testing/provider/test-provider-state.js";
import { respond } from "./request-handler.js";

/** The one address that the provider ever listens on. */
export const ADDRESS = "127.0.0.1";

export const CLIENT_ID = "idpauth-dev";

export interface ServedProvider {
  readonly issuer: string;
  readonly clientSecret: string;
  readonly people: readonly PersonClaims[];
  readonly redirectUris: readonly string[] | undefined;
  readonly backchannelLogoutUri: string | undefined;
  readonly tokenSeconds: number;
  readonly tenant: string | undefined;
  readonly keys: SigningKeys;
  readonly grants: Grants;
  readonly sessions: ProviderSessions;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Keeps what a request changed; called before its response is sent. */
  save(): void;
  /** Tells the operator of a request that failed. */
  failed(error: unknown): void;
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

/** Answers every request from now on. */
export function serve(server: Server, provider: ServedProvider): void {
  const state = stateOf(provider);
  const prefix = new URL(provider.issuer).pathname.replace(/\/$/, "");
  const endpointAt = (path: string) =>
    ENDPOINTS.find(
      (endpoint) =>
        path === prefix + ENDPOINT_PATHS[endpoint] && isOffered(endpoint, state.settings),
    );
  server.on("request", (message, response) => {
    const answering = async () => {
      const request = await receive(message, endpointAt, provider.now());
      const answer = await respond(request, state);
      if (request.method === "POST" || request.endpoint === "endSession") provider.save();
      send(response, answer);
    };
    answering().catch((error: unknown) => {
      // A client that leaves in the middle is no failure.
      if (response.destroyed || !message.complete) return void response.destroy();
      provider.failed(error);
      if (!response.headersSent)
        send(response, errorReply("server_error", "the provider failed", { status: 500 }));
    });
  });
}

function stateOf({
  issuer,
  people,
  keys,
  grants,
  sessions,
  now,
  ...provider
}: ServedProvider): ProviderState {
  const settings: ProviderSettings = {
    ...defaultSettings(),
    clientId: CLIENT_ID,
    clientSecret: provider.clientSecret,
    redirectUris: provider.redirectUris,
    backchannelLogoutUri: provider.backchannelLogoutUri,
    idTokenSeconds: provider.tokenSeconds,
    accessTokenSeconds: provider.tokenSeconds,
    tenant: provider.tenant,
  };
  const person = people[0] ?? {};
  return {
    issuer,
    base: issuer,
    settings,
    hooks: NO_HOOKS,
    keys,
    grants,
    usedAssertions: new Set(),
    pushed: new PushedRequests(),
    people,
    sessions,
    person,
    now,
    noteViolation() {},
  };
}

const NO_HOOKS: ProviderHooks = {
  mutateIdToken: undefined,
  tokenResponse: undefined,
  authorizationResponse: undefined,
  discoveryDocument: undefined,
  userinfoResponse: undefined,
};
