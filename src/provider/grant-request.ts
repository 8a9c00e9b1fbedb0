/** Requests with the client's credentials, and what their failures mean. */
import type { SettingNames } from "../config/setting-names.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { isObject } from "../record/json.js";
import type { FailureListener } from "./back-off.js";
import { authenticationInWords, credentialsInWords } from "./client-authentication.js";
import { jsonObject, type ProviderResponse } from "./http-to-provider.js";
import type { ClientResponse, ProviderConnection } from "./provider-connection.js";
import {
  asksToTryLater,
  INVALID_DPOP_PROOF,
  meaningOf,
  type Grant,
  type Meaning,
} from "./response-meaning.js";

/** Characters of `claims`, which goes into the address of a login. Entra ID sends some hundred. */
const MAX_CLAIMS_LENGTH = 2_000;

/** Where the client's credentials are sent to. */
export interface GrantEndpoint {
  readonly name: "token" | "par";
  readonly inWords: string;
}

/** A request with the client's credentials. */
interface GrantRequest {
  readonly grant: Grant;
  readonly endpoint: GrantEndpoint;
  readonly send: () => Promise<ClientResponse>;
  readonly backOff: FailureListener;
  /**
   * Whether an ambiguous response refuses now. Default: it is an outage.
   * @param isSpent it refuses the repetition of a refresh, whose token the first request may have
   *   spent
   */
  readonly isRefusedNow?: (isSpent: boolean) => boolean;
}

/**
 * Sends a request with the client's credentials, and returns the body of a success.
 *
 * @throws ProviderRefusedError | ProviderUnavailableError
 */
export async function sendGrant(
  connection: ProviderConnection,
  { grant, endpoint, send, backOff, isRefusedNow = () => false }: GrantRequest,
): Promise<Readonly<Record<string, unknown>>> {
  const meaning = await connection.call({
    endpoint: endpoint.name,
    send,
    read: (response: ClientResponse) => {
      const read = meaningOf(response, grant);
      if (read.kind === "ok") return read;
      const { reason } = read;
      const isSpent = isSpentByDemand(read, response.isRepeated === true, grant);
      const kind = isSpent ? "ambiguous" : read.kind;
      if (kind === "operator")
        reportMistake(connection, { grant, endpoint, reason, status: response.status });
      if (kind === "refused" || (kind === "ambiguous" && isRefusedNow(isSpent)))
        return { kind: "refused" as const, reason, claims: claimsChallenge(response) };
      throw new ProviderUnavailableError(reason, { misconfigured: kind === "operator" });
    },
    backOff: {
      succeeded() {
        backOff.succeeded();
      },
      failed: (startedAt, failure) =>
        backOff.failed(startedAt, {
          ...failure,
          asksToTryLater: asksToTryLater(failure.reason),
        }),
    },
  });
  if (meaning.kind === "refused") throw new ProviderRefusedError(meaning.reason, meaning);
  return meaning.body;
}

/**
 * Whether the provider may have spent the refresh token with the response that demanded a nonce,
 * and accept it at another try.
 */
function isSpentByDemand(
  { kind, reason }: Exclude<Meaning, { kind: "ok" }>,
  isRepeated: boolean,
  grant: Grant,
): boolean {
  const isRefresh = grant === "refresh" || grant === "api";
  return isRepeated && isRefresh && kind === "refused" && reason === "invalid_grant";
}

/**
 * Returns what the next login has to ask for (claims challenge):
 * https://learn.microsoft.com/en-us/entra/identity-platform/claims-challenge. Undefined: nothing, or
 * nothing that is a claims request of OpenID Connect.
 */
function claimsChallenge(response: ProviderResponse): string | undefined {
  const given = jsonObject(response)?.["claims"];
  const claims = typeof given === "string" ? jsonObject({ text: given }) : undefined;
  const isRequest = claims !== undefined && Object.values(claims).every(isObject);
  const normal = isRequest ? JSON.stringify(claims) : "";
  return normal !== "" && normal.length <= MAX_CLAIMS_LENGTH ? normal : undefined;
}

/** A response that shows an operator's mistake. */
interface MistakenGrant {
  readonly grant: Grant;
  readonly endpoint: GrantEndpoint;
  readonly reason: string;
  readonly status: number;
}

function reportMistake(
  connection: ProviderConnection,
  { grant, endpoint, reason, status }: MistakenGrant,
): void {
  const { settings } = connection;
  const response = `${reason}, status ${String(status)}`;
  // Glewlwyd refuses a wrong secret with 403 `unauthorized_client`, Keycloak with 401 and the same.
  const mayBeCredentials =
    [401, 403].includes(status) || reason === "unauthorized_client" || settings.privateKey !== null;
  const message = (names: SettingNames) => {
    if (reason === INVALID_DPOP_PROOF && !settings.dpop)
      return `The ${endpoint.inWords} demands a proof of a key (${response}). Turn ${names.env("dpop")} on.`;
    if (reason === INVALID_DPOP_PROOF)
      return `The ${endpoint.inWords} doesn't accept the proof of the session's key (${response}). Compare this machine's clock with the provider's, and check that the provider supports ES256 in proofs (dpop_signing_alg_values_supported).`;
    const sent = `The client authenticated with ${authenticationInWords(settings, names)}.`;
    const credentials = `Check ${credentialsInWords(settings, names)}.`;
    return reason === "invalid_client" || grant === "exchange" || grant === "push"
      ? `The ${endpoint.inWords} doesn't accept this client (${response}). ${sent} ${credentials}`
      : `The ${endpoint.inWords} doesn't allow this client to refresh (${response}). ${sent} Check the client's settings at the provider.${mayBeCredentials ? ` ${credentials}` : ""}`;
  };
  connection.misconfigured({ endpoint: endpoint.name, reason, message, status });
}
