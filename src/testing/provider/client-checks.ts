import { appleSecretMistake } from "./apple.js";
import { certificateMistake } from "./certificate-checks.js";
import { assertionMistake } from "./client-assertion-checks.js";
import { isForm, type ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState } from "./test-provider-state.js";

/**
 * Returns whether a client ID or a refresh token is one with which `idpauth check --live` finds out
 * how the provider checks clients. It doesn't exist, and its refusal is nobody's mistake.
 */
export function isMadeUp(value: string): boolean {
  return value.startsWith("idpauth-check-");
}

/**
 * Returns the error reply for a request that is no form or fails client authentication, or
 * undefined.
 */
export async function refusedClient(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply | undefined> {
  const { headers, params } = request;
  const { settings } = state;
  if (!isForm(headers)) return errorReply("invalid_request", "the body must be a form");
  const hasKey = settings.clientJwks !== undefined || settings.tlsClientAuth !== undefined;
  const mistake = await clientMistake(request, state);
  if (mistake === undefined) return undefined;
  const reply = errorReply("invalid_client", mistake, {
    status: 401,
    headers: hasKey ? {} : { "WWW-Authenticate": 'Basic realm="provider"' },
  });
  const id = basicCredentials(headers.authorization)?.id ?? params.get("client_id") ?? "";
  return isMadeUp(id) ? { ...reply, refusal: undefined } : reply;
}

async function clientMistake(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<string | undefined> {
  const { apple, clientJwks, tlsClientAuth } = state.settings;
  if (tlsClientAuth !== undefined) return certificateMistake(request, state.settings);
  if (apple !== undefined) return appleSecretMistake(request, state);
  return clientJwks === undefined
    ? secretMistake(request, state.settings)
    : assertionMistake(request, state);
}

/**
 * Returns why the client's secret is not accepted. The reason repeats nothing that the client sent:
 * a secret may be where the ID should be.
 */
function secretMistake(
  { headers, params }: ReceivedRequest,
  { clientId, clientSecret, tokenEndpointAuthMethods: accepted }: ProviderSettings,
): string | undefined {
  const basic = basicCredentials(headers.authorization);
  const method = basic === undefined ? "client_secret_post" : "client_secret_basic";
  const id = basic?.id ?? params.get("client_id");
  const secret = basic?.secret ?? params.get("client_secret");
  if (params.has("client_assertion"))
    return "the request contains a client_assertion, but this client authenticates with its secret";
  if (headers.authorization !== undefined && basic === undefined)
    return "the Authorization header isn't Basic credentials whose parts are percent-encoded";
  if (id !== clientId) return `client_id isn't ${clientId}`;
  if ((params.get("client_id") ?? id) !== id)
    return "client_id in the body isn't the client of the Authorization header";
  if (secret === null || secret === "") return "the request contains no client secret";
  if (!accepted.includes(method)) return `${method} isn't accepted, only ${accepted.join(" and ")}`;
  return secret === clientSecret ? undefined : "the client secret is wrong";
}

function basicCredentials(
  authorization: string | undefined,
): { id: string; secret: string } | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon < 0) return undefined;
  try {
    return { id: formDecoded(pair.slice(0, colon)), secret: formDecoded(pair.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

function formDecoded(value: string): string {
  return decodeURIComponent(value.replaceAll("+", " "));
}
