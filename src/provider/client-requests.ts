import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  refreshTokenGrantRequest,
  revocationRequest,
  type AuthorizationServer,
  type CustomFetchOptions,
} from "oauth4webapi";
import type { CodeExchange } from "../ports/provider.js";
import type { ProviderResponse, Backchannel } from "./transport.js";
import { clientAuthentication } from "./client-authentication.js";
import type { ProviderSettings } from "./provider-settings.js";

type ClientSettings = Pick<ProviderSettings, "clientId" | "clientSecret" | "tokenEndpointAuthMethod">;

/** The requests with the client's credentials. oauth4webapi builds them; idpauth reads the raw response. */
export interface ClientRequests {
  exchange(server: AuthorizationServer, code: Omit<CodeExchange, "nonce">, signal?: AbortSignal): Promise<ProviderResponse>;
  refresh(server: AuthorizationServer, refreshToken: string, signal?: AbortSignal): Promise<ProviderResponse>;
  revoke(server: AuthorizationServer, token: string, hint: string, signal?: AbortSignal): Promise<ProviderResponse>;
}

type Send = (url: string, options: CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;

interface RequestOptions {
  readonly [customFetch]: Send;
  readonly [allowInsecureRequests]: true;
}

export function createClientRequests(settings: ClientSettings, backchannel: Backchannel): ClientRequests {
  const client = { client_id: settings.clientId };
  const authentication = clientAuthentication(settings);

  async function sent(build: (options: RequestOptions) => Promise<Response>, signal: AbortSignal | undefined): Promise<ProviderResponse> {
    let response: ProviderResponse | undefined;
    const send: Send = async (url, { method, headers, body }) => {
      response = await backchannel.send(url, { method, headers, body }, signal);
      return new Response();
    };
    // discovery.ts has checked whether http is allowed.
    await build({ [customFetch]: send, [allowInsecureRequests]: true });
    if (response === undefined) throw new TypeError("The library sent no request.");
    return response;
  }

  return {
    exchange(server, { code, redirectUri, verifier }, signal) {
      const parameters = { code, redirect_uri: redirectUri, code_verifier: verifier };
      return sent(
        (options) => genericTokenEndpointRequest(server, client, authentication, "authorization_code", parameters, options),
        signal,
      );
    },
    refresh: (server, refreshToken, signal) =>
      sent((options) => refreshTokenGrantRequest(server, client, authentication, refreshToken, options), signal),
    revoke: (server, token, hint, signal) =>
      sent(
        (options) =>
          revocationRequest(server, client, authentication, token, { ...options, additionalParameters: { token_type_hint: hint } }),
        signal,
      ),
  };
}
