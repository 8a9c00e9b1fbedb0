import { assertionMistake } from "./client-assertion-checks.js";
import { isForm, type ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

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
  if (settings.clientJwks !== undefined) {
    const mistake = await assertionMistake(request, state);
    return mistake === undefined
      ? undefined
      : errorReply("invalid_client", mistake, { status: 401 });
  }
  const basic = basicCredentials(headers.authorization);
  const method = basic === undefined ? "client_secret_post" : "client_secret_basic";
  const id = basic?.id ?? params.get("client_id");
  const secret = basic?.secret ?? params.get("client_secret");
  const bothNames = params.get("client_id") ?? id;
  if (
    settings.tokenEndpointAuthMethods.includes(method) &&
    id === settings.clientId &&
    bothNames === id &&
    secret === settings.clientSecret
  ) {
    return undefined;
  }
  return errorReply("invalid_client", "client authentication failed", {
    status: 401,
    headers: { "WWW-Authenticate": 'Basic realm="provider"' },
  });
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
