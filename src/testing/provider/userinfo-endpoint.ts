import { bindingMistake, presentedToken, type BindingMistake } from "./bound-tokens.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";
import { addressOf } from "./sender-constraints.js";
import { jsonAfterHook, type ProviderState } from "./test-provider-state.js";

/** OpenID Connect Core section 5.3. */
export async function userinfo(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const { proofs } = state;
  const presented = presentedToken(request.headers.authorization);
  const scheme = presented?.scheme ?? "Bearer";
  const found =
    presented === undefined
      ? undefined
      : state.grants.active(presented.token, state.settings, state.now());
  if (presented === undefined || found?.kind !== "access")
    return refused(scheme, { error: "invalid_token", reason: "no usable access token" });
  const { resource, audience } = found.target;
  if (resource !== undefined || audience !== undefined)
    return refused(scheme, {
      error: "invalid_token",
      reason: "the access token is for an API, not for userinfo",
    });
  const proof = request.headers["dpop"];
  const mistake = await bindingMistake(
    {
      presented,
      proof: proof === undefined ? undefined : String(proof),
      method: request.method,
      url: addressOf(request, state),
      certificate: request.certificate,
    },
    found.claims,
    proofs,
  );
  const isDemand = mistake?.error === "use_dpop_nonce";
  const headers = isDemand ? proofs.demanded() : scheme === "DPoP" ? proofs.offered() : {};
  const reply =
    mistake === undefined
      ? jsonAfterHook({ ...found.family.approval.person }, state.hooks.userinfoResponse)
      : refused(scheme, mistake);
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

function refused(scheme: string, { error, reason }: BindingMistake): ProviderReply {
  return errorReply(error, reason, {
    status: 401,
    headers: { "WWW-Authenticate": `${scheme} error="${error}"` },
  });
}
