import { issueAccessToken, targetMistake } from "./access-tokens.js";
import { words, type OAuthError } from "./authentication.js";
import { isMadeUp, refusedClient } from "./client-checks.js";
import type { Approval, RequestedTarget } from "./grants.js";
import { idToken, type IssuedFor } from "./issue-id-token.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, printable, type ProviderReply } from "./replies.js";
import {
  confirmation,
  constraintMistake,
  provenClient,
  withNonce,
  type Confirmation,
  type ProvenClient,
} from "./sender-constraints.js";
import { jsonAfterHook, type ProviderState } from "./test-provider-state.js";

/** RFC 6749 sections 4.1.3 and 6. */
export async function token(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const refused = await refusedClient(request, state);
  if (refused !== undefined) return refused;
  const client = await provenClient(request, state);
  if ("refused" in client) return client.refused;
  const isFirst = state.settings.dpopNonceCheck === "before-grant";
  if (isFirst && client.demand !== undefined) return client.demand;
  return withNonce(await respond(request, client, state), client, state);
}

async function respond(
  request: ReceivedRequest,
  client: ProvenClient,
  state: ProviderState,
): Promise<ProviderReply> {
  const mistake = targetMistake(request.params) ?? constraintMistake(request, client, state);
  if (mistake !== undefined) return errorReply(mistake.error, mistake.description);
  switch (request.params.get("grant_type")) {
    case "authorization_code":
      return redeemCode(request, client, state);
    case "refresh_token":
      return refresh(request, client, state);
    default:
      return errorReply("unsupported_grant_type", "authorization_code or refresh_token");
  }
}

async function redeemCode(
  request: ReceivedRequest,
  client: ProvenClient,
  state: ProviderState,
): Promise<ProviderReply> {
  const { params } = request;
  const { settings, grants } = state;
  const family = grants.redeemCode(
    params.get("code") ?? "",
    {
      redirectUri: params.get("redirect_uri"),
      verifier: params.get("code_verifier"),
      pkce: settings.pkce === "required",
    },
    state.now(),
  );
  if (typeof family === "string") return errorReply("invalid_grant", family);
  // The code is spent, which is what `dpopNonceCheck` is about.
  if (client.demand !== undefined) return client.demand;
  const { dpopJkt } = family.approval;
  if (dpopJkt !== undefined && client.proof?.jkt !== dpopJkt)
    return errorReply("invalid_grant", "the proof's key isn't the one of dpop_jkt");
  if (settings.dpopBoundRefreshTokens && client.proof !== undefined) family.jkt = client.proof.jkt;
  const mistake = consentMistake(family.approval, params.getAll("resource"));
  if (mistake !== undefined) return errorReply(mistake.error, mistake.description);
  const { scope, nonce } = family.approval;
  const offline =
    settings.issueRefreshToken === "offline_access"
      ? scope.split(" ").includes("offline_access")
      : settings.issueRefreshToken;
  const refreshToken = offline ? grants.issueRefreshToken(family, state.now()) : undefined;
  const issued = { grant: "authorization_code", family, nonce } as const;
  const cnf = confirmation(request, client, state);
  return tokenResponse({ ...issued, refreshToken, cnf }, request, state);
}

async function refresh(
  request: ReceivedRequest,
  client: ProvenClient,
  state: ProviderState,
): Promise<ProviderReply> {
  const { params } = request;
  const { grants, settings } = state;
  const refreshToken = params.get("refresh_token") ?? "";
  const active = grants.active(refreshToken, settings, state.now());
  // Before the token is spent: a refusal of the target leaves it usable.
  const mistake =
    active?.kind === "refresh"
      ? consentMistake(
          active.family.approval,
          params.getAll("resource"),
          words(params.get("scope")),
        )
      : undefined;
  if (mistake !== undefined) return errorReply(mistake.error, mistake.description);
  const jkt = active?.family.jkt;
  if (jkt !== undefined && client.proof?.jkt !== jkt)
    return errorReply("invalid_grant", "the refresh token is bound to another key");
  const spent = grants.spendRefreshToken(refreshToken, settings, state.now());
  if (typeof spent === "string") {
    const reply = errorReply("invalid_grant", spent);
    return isMadeUp(refreshToken) ? { ...reply, refusal: undefined } : reply;
  }
  if (client.demand !== undefined) return client.demand;
  // A refreshed ID token should carry no nonce (OpenID Connect Core section 12.2).
  const issued = { grant: "refresh_token", family: spent.family, nonce: undefined } as const;
  const cnf = confirmation(request, client, state);
  return tokenResponse({ ...issued, refreshToken: spent.successor, cnf }, request, state);
}

/**
 * Returns what a user who chose the scopes and APIs hasn't granted (RFC 6749 section 6, RFC 8707
 * section 2.2). An `audience` isn't compared, because applications name it only during a refresh.
 *
 * @param scopes those that a refresh asks for; it gets the granted ones among them
 */
function consentMistake(
  { consented, scope, audience }: Approval,
  resources: readonly string[],
  scopes: readonly string[] = [],
): OAuthError | undefined {
  if (!consented) return undefined;
  const other = resources.find((resource) => !audience.includes(resource));
  if (other !== undefined)
    return {
      error: "invalid_target",
      description: `the user hasn't granted access to ${printable(other)}`,
    };
  const granted = words(scope);
  return scopes.length === 0 || scopes.some((one) => granted.includes(one))
    ? undefined
    : {
        error: "invalid_scope",
        description: `the user hasn't granted ${printable(scopes.join(" "))}`,
      };
}

interface Granted extends IssuedFor {
  readonly refreshToken: string | undefined;
  readonly cnf: Confirmation | undefined;
}

async function tokenResponse(
  issued: Granted,
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const { grant, family, refreshToken, cnf } = issued;
  const { settings, grants, hooks } = state;
  const { params } = request;
  const names = grant === "refresh_token" ? (["resource", "audience", "scope"] as const) : [];
  const target: RequestedTarget = Object.fromEntries(
    names.flatMap((name) => (params.has(name) ? [[name, params.get(name) ?? ""]] : [])),
  );
  const { consented, scope: granted } = family.approval;
  const scope = words(target.scope ?? granted)
    .filter((one) => !consented || words(granted).includes(one))
    .join(" ");
  const accessToken = issueAccessToken({ family, params, target, scope, cnf }, state);
  const reply = {
    access_token: accessToken,
    token_type: cnf?.jkt === undefined ? "Bearer" : "DPoP",
    expires_in: settings.accessTokenSeconds,
    scope,
    id_token: grants.note("id_token", await idToken(issued, accessToken, state)),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
  const { tokenResponse: change } = hooks;
  return jsonAfterHook(reply, change && ((value) => change(value, request)));
}
