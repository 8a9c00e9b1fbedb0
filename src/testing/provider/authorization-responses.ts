import { announcedIssuer } from "./entra-tenants.js";
import { mutatedToken } from "./mutated-tokens.js";
import { formPostPage } from "./provider-pages.js";
import { htmlReply, redirectReply, type ProviderReply } from "./replies.js";
import { compactJws } from "./signing-keys.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState, ResponseJwtDraft } from "./test-provider-state.js";

/** Seconds, the life of a signed response. */
const LIFE_SECONDS = 600;

/** The response modes in which the provider signs (JARM section 2.3). */
export const SIGNED_MODES: readonly string[] = ["jwt", "query.jwt", "form_post.jwt"];

/** Returns why the provider doesn't respond in this mode. */
export function responseModeMistake(
  mode: string | null,
  { signedResponses }: ProviderSettings,
): string | undefined {
  if (signedResponses !== "required" || SIGNED_MODES.includes(mode ?? "")) return undefined;
  return `response_mode must be one of ${SIGNED_MODES.join(", ")}`;
}

interface AddressedResponse {
  readonly mode: string | null;
  readonly redirectUri: string;
}

/** Returns the reply that brings the parameters to the client. */
export async function responseTo(
  params: URLSearchParams,
  { mode, redirectUri }: AddressedResponse,
  state: ProviderState,
): Promise<ProviderReply> {
  const isSigned =
    state.settings.signedResponses !== "ignored" && SIGNED_MODES.includes(mode ?? "");
  const jwt = isSigned ? await responseJwt(params, state) : null;
  const sent = jwt === null ? params : new URLSearchParams({ response: jwt });
  if (mode === "form_post" || (isSigned && mode === "form_post.jwt"))
    return htmlReply(200, formPostPage(redirectUri, sent));
  const location = new URL(redirectUri);
  for (const [name, value] of sent) location.searchParams.append(name, value);
  return redirectReply(location.href);
}

/** JARM section 2.1. Null: a test's hook wants the parameters without it. */
async function responseJwt(params: URLSearchParams, state: ProviderState): Promise<string | null> {
  const { keys, hooks, settings } = state;
  const { iss = announcedIssuer(state), ...others } = Object.fromEntries(params);
  const draft: ResponseJwtDraft = {
    header: keys.header,
    claims: {
      iss,
      aud: settings.clientId,
      exp: Math.floor(state.now() / 1000) + LIFE_SECONDS,
      ...others,
    },
    privateKey: keys.privateKey,
    publicKeyPem: keys.publicKeyPem,
    publicJwk: keys.publicJwk,
    sign: (header, claims, key = keys.privateKey) => compactJws(header, claims, key),
  };
  const returned: unknown = await hooks.mutateResponseJwt?.(draft);
  return returned === null ? null : mutatedToken("mutateResponseJwt", returned, draft);
}
