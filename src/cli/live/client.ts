import { randomBytes } from "node:crypto";
import { check } from "../../core/checks.js";
import { ProviderRefusedError, ProviderUnavailableError, type Finding } from "../../core/errors.js";
import type { Provider } from "../../core/ports.js";
import type { Settings } from "../../core/settings.js";
import type { Clock } from "../../core/time.js";
import { withDeadline } from "../../provider/backchannel.js";
import { unreachable } from "./unreachable.js";

export interface JudgedClient {
  readonly fact: "accepted" | "refused" | null;
  /** False: the client is known, and may not refresh. */
  readonly refreshes?: false;
  readonly findings: readonly Finding[];
}

/** No provider has ever given this out, so it is worth nothing to anybody; and it says where it comes from. */
function madeUpToken(): string {
  return `idpauth-check-${randomBytes(24).toString("base64url")}`;
}

/**
 * Whether the provider accepts the client: asks for a refresh with a made-up token, in the very request that the application
 * sends. A provider authenticates the client first and then refuses the token (RFC 6749 section 5.2), so nothing is given out,
 * spent or revoked. One request; a wrong secret is offered once.
 *
 * @param provider has its discovery document already, so that what fails is the token endpoint
 * @param tokenEndpoint its address
 */
export async function judgeClient(provider: Provider, tokenEndpoint: string, settings: Settings, clock: Clock): Promise<JudgedClient> {
  const { httpTimeout } = settings;
  try {
    await withDeadline(clock, httpTimeout, (signal) => provider.refresh(madeUpToken(), signal));
    return {
      fact: null,
      findings: [check("W108", "The token endpoint answers with success to a refresh token that nobody has given out.")],
    };
  } catch (error) {
    if (error instanceof ProviderRefusedError) return judged(error.reason, settings);
    if (!(error instanceof ProviderUnavailableError)) throw error;
    const isAnswer = !["network", "timeout", "too_large"].includes(error.reason);
    if (isAnswer) return judged(error.reason, settings);
    const finding = unreachable("token", tokenEndpoint, error, httpTimeout);
    return { fact: null, findings: [finding ?? check("W108", "The token endpoint answers with more than 1 MiB, which is not read.")] };
  }
}

/** @param reason the provider's error code in the form of one, or our own word for its answer */
function judged(reason: string, { tokenEndpointAuthMethod: method, sessionAutoRefresh }: Settings): JudgedClient {
  switch (reason) {
    case "invalid_grant":
      return { fact: "accepted", findings: [] };
    case "invalid_client":
    case "http_401":
      return {
        fact: "refused",
        findings: [
          check(
            "E109",
            `The token endpoint refuses IDP_CLIENT_ID (option clientId) with IDP_CLIENT_SECRET (option clientSecret), sent by \`${method}\` (${reason}).`,
          ),
        ],
      };
    case "unauthorized_client":
    case "unsupported_grant_type":
      if (!sessionAutoRefresh) return { fact: "accepted", findings: [] };
      return {
        fact: "accepted",
        refreshes: false,
        findings: [
          check(
            "W103",
            `IDP_SESSION_AUTO_REFRESH is on, but the token endpoint does not let this client refresh (${reason}): once the ID token has expired, ` +
              "visitors are answered 503 if the provider gives out a refresh token all the same, else signed out.",
          ),
        ],
      };
    default:
      return {
        fact: null,
        findings: [check("W108", `The token endpoint's answer (${reason}) does not tell whether the provider accepts the client.`)],
      };
  }
}
