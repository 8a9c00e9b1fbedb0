import type { ProviderSettings } from "./test-provider-settings.js";
import { isForm, type ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";

/** Returns the error reply for a request that is no form or fails client authentication, or undefined. */
export function refusedClient({ headers, params }: ReceivedRequest, settings: ProviderSettings): ProviderReply | undefined {
  if (!isForm(headers)) return errorReply("invalid_request", "the body must be a form");
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
  return errorReply("invalid_client", "client authentication failed", 401, { "WWW-Authenticate": 'Basic realm="provider"' });
}

function basicCredentials(authorization: string | undefined): { id: string; secret: string } | undefined {
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
