import * as oauth from "oauth4webapi";
import { Agent, fetch as undiciFetch } from "undici";
import type { TestProvider } from "../../src/testing/index.js";

export const REDIRECT_URI = "http://127.0.0.1:1/callback";
export const VERIFIER = "v".repeat(43);

/** The keys, certificates and manners of a client. */
export interface ClientParts {
  readonly auth?: oauth.ClientAuth;
  readonly dpop?: oauth.DPoPHandle;
  /** Sends requests, such as with a certificate. */
  readonly fetch?: typeof fetch;
}

/** A client of a test provider, by oauth4webapi. */
export interface AssuranceClient {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  /** The address of an authorization request. */
  address(parameters?: Readonly<Record<string, string>>): Promise<URL>;
  /** The parameters of the response to an authorization request. */
  ask(parameters?: Readonly<Record<string, string>>): Promise<URL>;
  code(parameters?: Readonly<Record<string, string>>): Promise<string>;
  redeem(code: string, others?: ClientParts): Promise<Response>;
  refresh(token: string, others?: ClientParts): Promise<Response>;
  push(parameters: Readonly<Record<string, string>>, others?: ClientParts): Promise<Response>;
  userinfo(token: string, others?: ClientParts): Promise<Response>;
}

export async function assuranceClient(
  provider: TestProvider,
  parts: ClientParts = {},
): Promise<AssuranceClient> {
  const client: oauth.Client = { client_id: provider.clientId };
  // Only the certificate's endpoints may see it.
  const common = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(provider.issuer);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, common),
  );
  const aliases = server.mtls_endpoint_aliases ?? {};
  const effective = parts.fetch === undefined ? server : { ...server, ...aliases };
  const merged = (others: ClientParts) => ({ ...parts, ...others });
  const optionsOf = ({ dpop, fetch }: ClientParts) => ({
    ...common,
    ...(dpop !== undefined && { DPoP: dpop }),
    ...(fetch !== undefined && { [oauth.customFetch]: fetch }),
  });
  const authOf = ({ auth = oauth.ClientSecretPost(provider.clientSecret) }: ClientParts) => auth;
  const parametersOf = async (given: Readonly<Record<string, string>>) => ({
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid",
    code_challenge: await oauth.calculatePKCECodeChallenge(VERIFIER),
    code_challenge_method: "S256",
    ...given,
  });
  const made: AssuranceClient = {
    server: effective,
    client,
    async address(given = {}) {
      const url = new URL(server.authorization_endpoint ?? "");
      url.search = new URLSearchParams(await parametersOf(given)).toString();
      return url;
    },
    async ask(given = {}) {
      return new URL(await provider.signInCode(await made.address(given)));
    },
    async code(given = {}) {
      return (await made.ask(given)).searchParams.get("code") ?? "";
    },
    redeem(code, others = {}) {
      const all = merged(others);
      const params = new URLSearchParams({ code, state: "s" });
      const checked = oauth.validateAuthResponse({ issuer: server.issuer }, client, params, "s");
      return oauth.authorizationCodeGrantRequest(
        effective,
        client,
        authOf(all),
        checked,
        REDIRECT_URI,
        VERIFIER,
        optionsOf(all),
      );
    },
    refresh(token, others = {}) {
      const all = merged(others);
      return oauth.refreshTokenGrantRequest(effective, client, authOf(all), token, optionsOf(all));
    },
    async push(given, others = {}) {
      const all = merged(others);
      return oauth.pushedAuthorizationRequest(
        effective,
        client,
        authOf(all),
        await parametersOf(given),
        optionsOf(all),
      );
    },
    userinfo(token, others = {}) {
      // The library names a type of its own for each request's `customFetch`.
      const own = optionsOf(merged(others)) as object as oauth.UserInfoRequestOptions;
      return oauth.userInfoRequest(effective, client, token, own);
    },
  };
  return made;
}

export async function dpopHandle(client: oauth.Client): Promise<oauth.DPoPHandle> {
  return oauth.DPoP(client, await oauth.generateKeyPair("ES256"));
}

export async function json(
  responding: Response | Promise<Response>,
): Promise<Record<string, unknown>> {
  return (await (await responding).json()) as Record<string, unknown>;
}

/** Sends requests with this certificate. The kit's servers are trusted while they run. */
export function fetchWith(certificate: { readonly cert: string; readonly key: string }) {
  const { cert, key } = certificate;
  const dispatcher = new Agent({ connect: { cert, key }, keepAliveTimeout: 1 });
  const send = ((input: string, init: object) =>
    undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch;
  return { fetch: send, close: () => dispatcher.close() };
}
