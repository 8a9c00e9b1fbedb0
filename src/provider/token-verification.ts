/** Whether the tokens of a sign-in, a refresh and a logout may be accepted. */
import { epochSeconds, type EpochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { LogoutToken, RefreshRequest, ResponseParameters } from "../ports/provider.js";
import type { SpentRefresh } from "../record/credentials.js";
import type { SessionRecord } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { tenantsOf } from "./allowed-tenants.js";
import type { Discovery } from "./discovery.js";
import {
  checkContinuity,
  checkNonce,
  checkProviderSession,
  verifyIdToken,
  type CheckFlow,
  type ExpectedClaims,
  type VerifiedIdToken,
} from "./id-token.js";
import type { Jwks } from "./key-fetches.js";
import { verifyLogoutToken } from "./logout-token.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import { verifySignedResponse } from "./signed-responses.js";
import { doubtInWords, type Doubt } from "./token-doubts.js";

/** The tokens of a response. */
interface ReceivedTokens {
  readonly accessToken: string | undefined;
  /** An access token came that is of another type than asked for. */
  readonly isOtherType?: boolean | undefined;
  readonly idToken: string | undefined;
}

/** A sign-in to check. */
interface SignInCheck {
  readonly metadata: ProviderMetadata;
  readonly tokens: ReceivedTokens;
  /** Of the login. */
  readonly nonce: string;
  readonly receivedAt: EpochSeconds;
}

/** A refresh to check. */
export interface RefreshCheck {
  readonly metadata: ProviderMetadata;
  readonly spent: SpentRefresh;
  /** The record that the refresh started from. */
  readonly previous: SessionRecord;
  readonly request: RefreshRequest;
}

/** A verified ID token, without any doubt. */
export type AcceptedIdToken = Pick<VerifiedIdToken, "claims" | "algorithm">;

export interface TokenVerification {
  /** Returns the access token. @throws ProviderUnavailableError there is none of the expected type */
  usableToken(tokens: ReceivedTokens): string;
  /** Verifies the ID token of a sign-in. */
  verifySignIn(check: SignInCheck): Promise<AcceptedIdToken>;
  /** Verifies the ID token of a refresh. */
  verifyRefresh(check: RefreshCheck): Promise<AcceptedIdToken>;
  /** @throws ProviderRefusedError, ProviderUnavailableError as the port documents */
  verifyResponse(response: string): Promise<ResponseParameters>;
  /** @throws ProviderRefusedError, ProviderUnavailableError as the port documents */
  verifyLogout(token: string): Promise<LogoutToken>;
}

export function createTokenVerification(
  connection: ProviderConnection,
  discovery: Discovery,
  jwks: Jwks,
): TokenVerification {
  const { settings, clock } = connection;
  const tenants = tenantsOf(settings);
  /** Of the newest ID token of this client. */
  let newestAlgorithm: string | undefined;
  let hasSentTypedLogout = false;

  /** The values that idpauth expects in ID tokens and logout tokens. */
  function expectedClaims(): ExpectedClaims {
    const { issuer, clientId, trustedAudiences, clockTolerance } = settings;
    const now = epochSeconds(clock);
    return { issuer, tenants, clientId, trustedAudiences, clockTolerance, now };
  }

  function usableToken({ accessToken, isOtherType = false }: ReceivedTokens): string {
    if (accessToken !== undefined) return accessToken;
    if (!isOtherType) throw new ProviderUnavailableError("access_token_missing");
    throw connection.doubted({
      endpoint: "token",
      reason: "token_type",
      message: ({ env }) =>
        settings.dpop
          ? `${env("dpop")} is on, but the token endpoint issues access tokens that aren't bound to the session's key. Have the provider bind the tokens of this client (DPoP), or turn ${env("dpop")} off.`
          : `The token endpoint issues access tokens of another type than Bearer. If the provider binds them to a key (DPoP), turn ${env("dpop")} on. Otherwise have it issue bearer tokens to this client.`,
    });
  }

  /** @throws ProviderUnavailableError the token is verified, and can't be accepted here */
  function assertUndoubted(kind: "id_token" | "logout_token", doubts: readonly Doubt[]): void {
    const [doubt] = doubts;
    if (doubt === undefined) return;
    const message = doubtInWords(doubt, settings.clockTolerance);
    throw connection.doubted({ endpoint: "token", reason: `${kind}_${doubt.reason}`, message });
  }

  async function verify(check: IdTokenCheck): Promise<AcceptedIdToken> {
    const { metadata, tokens, checkFlow, signal } = check;
    const { idTokenSignedResponseAlg: only } = settings;
    const accessToken = usableToken(tokens);
    const { idToken } = tokens;
    if (idToken === undefined) throw new ProviderRefusedError("id_token_missing");
    const expected = {
      ...expectedClaims(),
      algorithms: only === null ? metadata.id_token_signing_alg_values_supported : [only],
      newerAlgorithms: async () =>
        only === null
          ? (await discovery.renewed(signal)).id_token_signing_alg_values_supported
          : [only],
      accessToken,
    };
    try {
      const verification = { jwks, checkFlow, signal };
      const { doubts, ...accepted } = await verifyIdToken(idToken, expected, verification);
      assertUndoubted("id_token", doubts);
      // Not before: a token response with an unusable ID token does not show that the configuration
      // is correct.
      connection.resolved("token");
      newestAlgorithm = accepted.algorithm;
      return accepted;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError) || error.reason !== "id_token_encrypted")
        throw error;
      throw connection.misconfigured({
        endpoint: "token",
        reason: error.reason,
        message:
          "The provider encrypts its ID tokens, which idpauth doesn't support. Have the provider only sign them.",
      });
    }
  }

  function verifySignIn(check: SignInCheck): Promise<AcceptedIdToken> {
    const { metadata, tokens, nonce, receivedAt } = check;
    const checkFlow: CheckFlow = (claims) => {
      checkNonce(claims, nonce);
      checkProviderSession(claims, receivedAt);
      return [];
    };
    return verify({ metadata, tokens, checkFlow });
  }

  function verifyRefresh(check: RefreshCheck): Promise<AcceptedIdToken> {
    const { metadata, spent, previous, request } = check;
    const { clockTolerance } = settings;
    const checkFlow: CheckFlow = (claims, doubts) =>
      checkContinuity(claims, previous.id_info ?? {}, { clockTolerance, doubts });
    return verify({ metadata, tokens: spent, checkFlow, signal: request.signal });
  }

  function verifyResponse(response: string): Promise<ResponseParameters> {
    const expected = {
      ...expectedClaims(),
      metadata: () => discovery.current(),
      newerMetadata: () => discovery.renewed(),
    };
    return verifySignedResponse(response, expected, jwks);
  }

  async function verifyLogout(token: string): Promise<LogoutToken> {
    const { idTokenSignedResponseAlg: only } = settings;
    const expected = {
      ...expectedClaims(),
      metadata: () => discovery.current(),
      newerMetadata: () => discovery.renewed(),
      algorithm: only,
      requiresType: hasSentTypedLogout,
    };
    const { logout, hasType, algorithm, doubts } = await verifyLogoutToken(token, expected, jwks);
    try {
      assertUndoubted("logout_token", doubts);
    } catch (error) {
      // The provider is told: the logout couldn't be carried out.
      throw new ProviderRefusedError((error as ProviderUnavailableError).reason);
    }
    hasSentTypedLogout ||= hasType;
    // The provider may have begun to sign with another algorithm.
    const isExpected = only !== null || algorithm === newestAlgorithm;
    if (isExpected) return logout;
    const isUnusual = newestAlgorithm === undefined ? undefined : (true as const);
    return { ...logout, onlySignedWith: algorithm, ...withoutUndefined({ isUnusual }) };
  }

  return { usableToken, verifySignIn, verifyRefresh, verifyResponse, verifyLogout };
}

/** An ID token to check. */
interface IdTokenCheck {
  readonly metadata: ProviderMetadata;
  readonly tokens: ReceivedTokens;
  readonly checkFlow: CheckFlow;
  readonly signal?: AbortSignal;
}
