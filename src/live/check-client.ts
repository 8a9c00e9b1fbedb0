import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";
import { authenticatesByTls } from "../config/check-certificates.js";
import type { UnnamedFinding } from "../config/findings.js";
import type { SettingName, Settings } from "../config/read-settings.js";
import type { SettingNames, SettingText } from "../config/setting-names.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { Provider } from "../ports/provider.js";
import { asksForRetry } from "../provider/back-off.js";
import { authenticationInWords, authenticationMethod } from "../provider/client-authentication.js";
import { withDeadline } from "../provider/http-to-provider.js";
import { asksToTryLater } from "../provider/response-meaning.js";
import { failureOf } from "./explain-connection-error.js";
import { liveCheck } from "./live-check-table.js";
import type { LiveFacts } from "./live-facts.js";
import type { Exchange } from "./timed-fetch.js";
import { unreachable } from "./unreachable-endpoint.js";

interface ClientResult {
  readonly fact: LiveFacts["client"];
  /** False: the token endpoint does not allow this client to refresh. */
  readonly refreshes?: false;
  readonly findings: readonly UnnamedFinding[];
}

export interface ClientQuestion {
  readonly settings: Settings;
  readonly clock: Clock;
  /** Creates the application's provider with other settings. */
  readonly providerFor: (settings: Settings) => Provider;
  /** Every request and response so far. */
  readonly exchanges: readonly Exchange[];
  /** The address that the discovery document names. */
  readonly tokenEndpoint: string;
}

/** How the token endpoint refused a made-up refresh token. */
interface Refusal {
  /** Undefined: the token endpoint gave no response. */
  readonly status: number | undefined;
  /**
   * The provider's error code if it has a valid form; otherwise idpauth's own word for the
   * response.
   */
  readonly reason: string;
  readonly error: unknown;
}

/** What the check can't tell if a client that does not exist gets the same response. */
export const CLIENT_NOT_KNOWN =
  "Whether the provider accepts client ID and secret: its token endpoint returns the same response for a client that doesn't exist. " +
  "A sign-in shows whether it accepts them.";

const KEY_CANNOT_SIGN =
  "If the option `privateKey` is a function, test it: it must return the raw signature in time. Otherwise, use a key of a type that the provider " +
  "accepts, for example RSA.";

const KEY_REMEDY: SettingText = ({ env }) =>
  `Compare ${env("clientId")} with the client's registration at the provider, and register the public half of the first key in ${env("privateKey")}. ` +
  `If both are correct, the provider may expect another \`aud\`: set ${env("clientAssertionAudience")}.`;

const CERTIFICATE_REMEDY: SettingText = ({ env }) =>
  `Compare ${env("clientId")} with the client's registration at the provider, and the certificate in ${env("clientCertificate")} with what is registered: its subject for \`tls_client_auth\`, its key for \`self_signed_tls_client_auth\`. ` +
  `The provider must also trust who issued it, unless ${env("tokenEndpointAuthMethod")} is \`self_signed_tls_client_auth\`.`;

const APPLE_REMEDY: SettingText = ({ env }) =>
  `Compare ${env("clientId")} (the Services ID), ${env("appleTeamId")}, ${env("appleKeyId")} and ${env("privateKey")} with your account at Apple.`;

/** Undefined: the client has a secret, and the check's own remedy is right. */
function keyRemedy(settings: Settings): SettingText | undefined {
  const { privateKey, appleTeamId, tokenEndpointAuthMethod } = settings;
  if (appleTeamId !== null) return APPLE_REMEDY;
  if (authenticatesByTls(tokenEndpointAuthMethod)) return CERTIFICATE_REMEDY;
  return privateKey === null ? undefined : KEY_REMEDY;
}

/** Returns a made-up token that gives access to nothing. Its text names this check. */
function madeUp(): string {
  return `idpauth-check-${randomBytes(24).toString("base64url")}`;
}

/**
 * Checks whether the provider accepts the client: sends the application's refresh request with a
 * made-up token. A provider that follows RFC 6749 section 5.2 authenticates the client first and
 * then refuses the token. Some providers check the token first, so a second request with a made-up
 * client follows. If both get the same response, the response does not show whether the client is
 * accepted. If the responses differ, it is. The check never sends a wrong secret for the real
 * client, since the provider could lock it.
 */
export async function checkClient(question: ClientQuestion): Promise<ClientResult> {
  const { settings, tokenEndpoint } = question;
  const refusal = await refusalOf(question);
  if (refusal === undefined) {
    const message = "The token endpoint accepts a refresh token that the provider never issued.";
    return unclear(message, settings);
  }
  if (refusal.reason.startsWith("client_assertion")) {
    const message: SettingText = ({ label }) =>
      `The private key in ${label("privateKey")} can't sign what the provider accepts (${refusal.reason}).`;
    return { fact: "refused", findings: [liveCheck("E109", message, KEY_CANNOT_SIGN)] };
  }
  if (refusal.status === undefined || refusal.reason === "too_large") {
    const failure = failureOf(refusal.error, settings.httpTimeout);
    const finding = unreachable("token", tokenEndpoint, failure);
    return finding === undefined
      ? unclear(
          "The token endpoint's response is larger than 1 MiB, so the check doesn't read it.",
          settings,
        )
      : { fact: null, findings: [finding] };
  }
  const checked = meaningOfRefusal(refusal, settings);
  if (checked.fact === "refused" || !isDefinite(refusal)) return checked;
  const isAccepted = await refusesStrangers(question, refusal);
  // Some providers refuse the token with an error of their own. A 403 may also be their refusal of
  // a wrong secret.
  if (checked.fact === null)
    return isAccepted && refusal.status !== 403 ? { fact: "accepted", findings: [] } : checked;
  if (isAccepted) return checked;
  if (refusal.reason !== "unauthorized_client") return { ...checked, fact: "not known" };
  return unclear(
    "The token endpoint's response (unauthorized_client) is the same for a fake client.",
    settings,
  );
}

/** The response doesn't show whether the client is accepted. */
function unclear(message: string, settings: Settings): ClientResult {
  return { fact: null, findings: [liveCheck("W108", message, keyRemedy(settings))] };
}

/** Whether a client that does not exist gets another definite refusal than the real client. */
async function refusesStrangers(
  question: ClientQuestion,
  { reason, status }: Refusal,
): Promise<boolean> {
  const { settings } = question;
  const stranger = {
    ...settings,
    clientId: madeUp(),
    ...(settings.privateKey === null && { clientSecret: madeUp() }),
  };
  const refusal = await refusalOf({ ...question, settings: stranger });
  return (
    refusal !== undefined &&
    isDefinite(refusal) &&
    (refusal.reason !== reason || refusal.status !== status)
  );
}

function isDefinite({ status = 0, reason }: Refusal): boolean {
  return status >= 400 && !asksForRetry(status) && !asksToTryLater(reason);
}

/** @returns undefined if the token endpoint gives tokens for the made-up refresh token */
async function refusalOf({
  settings,
  clock,
  providerFor,
  exchanges,
}: ClientQuestion): Promise<Refusal | undefined> {
  const before = exchanges.length;
  try {
    await withDeadline(clock, settings.httpTimeout, (signal) =>
      providerFor(settings).refresh({ refreshToken: madeUp(), session: "idpauth-check", signal }),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ProviderRefusedError) && !(error instanceof ProviderUnavailableError))
      throw error;
    const status = exchanges.slice(before).find(({ method }) => method === "POST")?.status;
    return { status, reason: error.reason, error };
  }
}

/** The setting that the client authenticates with. */
function credentialOf(settings: Settings): SettingName {
  if (settings.appleTeamId !== null) return "privateKey";
  const method = authenticationMethod(settings);
  if (method === "private_key_jwt") return "privateKey";
  return authenticatesByTls(method) ? "clientCertificate" : "clientSecret";
}

function meaningOfRefusal({ reason, status }: Refusal, settings: Settings): ClientResult {
  if (reason === "invalid_grant") return { fact: "accepted", findings: [] };
  // For a wrong secret, Keycloak sends `unauthorized_client`, Auth0 `access_denied`, both with
  // status 401.
  if (reason === "invalid_client" || status === 401) {
    const message = (names: SettingNames) =>
      `The token endpoint refuses ${names.label("clientId")} with ${names.label(credentialOf(settings))} (${reason}). ` +
      `The client authenticates with ${authenticationInWords(settings, names)}.`;
    return {
      fact: "refused",
      findings: [liveCheck("E109", message, keyRemedy(settings))],
    };
  }
  const forbidsRefreshes =
    reason === "unsupported_grant_type" ||
    // With status 403, Glewlwyd says so of a wrong secret.
    (reason === "unauthorized_client" && status !== 403);
  if (forbidsRefreshes) {
    if (!settings.sessionAutoRefresh) return { fact: "accepted", findings: [] };
    const message: SettingText = ({ label }) =>
      `${label("sessionAutoRefresh")} is on, but the token endpoint doesn't allow this client to refresh (${reason}). ` +
      "If the provider sends a refresh token anyway, users get status 503 when their ID token expires. Otherwise, they're signed out.";
    const remedy: SettingText = ({ env }) =>
      `Allow the refresh token grant for this client at the provider, or set ${env("sessionAutoRefresh")} to false.`;
    return { fact: "accepted", refreshes: false, findings: [liveCheck("W103", message, remedy)] };
  }
  const message = `The token endpoint's response (${reason}) doesn't show whether the provider accepts the client.`;
  return unclear(message, settings);
}
