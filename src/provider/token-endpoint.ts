import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type { CodeExchange, RefreshRequest } from "../ports/provider.js";
import type { Clock } from "../clock.js";
import { meaningOf, TRY_LATER, type Grant, type Meaning } from "./token-responses.js";
import { createBackOff, retryAfterSeconds, type BackOff } from "./endpoint-back-off.js";
import type { ProviderResponse } from "./transport.js";
import { authenticationInWords } from "./client-authentication.js";
import type { ProviderMetadata } from "./discovery.js";
import type { Misconfigurations } from "./misconfiguration.js";
import { RefreshBackOff } from "./refresh-back-off.js";
import type { ClientRequests } from "./client-requests.js";
import type { ProviderSettings } from "./provider-settings.js";

export type TokenBody = Readonly<Record<string, unknown>>;

/** A failed request, for the back-off. */
interface Failure {
  readonly startedAt: number;
  /** Undefined: no response came. */
  readonly response: ProviderResponse | undefined;
  readonly reason: string;
  readonly isOperators: boolean;
}

export interface TokenEndpointOptions {
  readonly settings: ProviderSettings;
  readonly requests: ClientRequests;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: EventHub;
  readonly misconfigurations: Misconfigurations;
}

/** The token endpoint. A request is never repeated, since a code or a refresh token works once. */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;
  readonly #exchanges: BackOff;
  readonly #refreshes: RefreshBackOff;

  constructor(options: TokenEndpointOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#exchanges = createBackOff(clock, random);
    this.#refreshes = new RefreshBackOff(clock, random);
  }

  /** @throws ProviderUnavailableError `backing_off` */
  assertReadyToExchange(): void {
    this.#exchanges.assertReady();
  }

  /** @throws ProviderUnavailableError `backing_off` */
  assertReadyToRefresh(session: string): void {
    this.#refreshes.assertReady(session);
  }

  async exchange(metadata: ProviderMetadata, code: CodeExchange): Promise<TokenBody> {
    this.assertReadyToExchange();
    const send = () => this.#options.requests.exchange(metadata, code);
    return this.#ask("exchange", metadata, send, {
      worked: () => {
        this.#exchanges.succeeded();
      },
      // An attacker can send any code. Only failures that no code can cause may block other users.
      failed: ({ startedAt, response, reason, isOperators }) => {
        const concernsAll = isOperators || (response === undefined && reason !== "too_large");
        if (concernsAll) return this.#exchanges.failed(startedAt, { misconfigured: isOperators });
        return retryAfterSeconds(response?.headers.get("retry-after"), this.#options.clock.now()) ?? 1;
      },
    });
  }

  async refresh(metadata: ProviderMetadata, { refreshToken, session, signal }: RefreshRequest): Promise<TokenBody> {
    this.assertReadyToRefresh(session);
    const send = () => this.#options.requests.refresh(metadata, refreshToken, signal);
    return this.#ask("refresh", metadata, send, {
      worked: () => {
        this.#refreshes.succeeded(session);
      },
      failed: (failure) => this.refreshFailed(session, failure),
    });
  }

  /** Backs off after a failed refresh, or a failed userinfo request that confirms one. @returns seconds */
  refreshFailed(session: string, { startedAt, response, reason, isOperators }: Failure): number {
    const trouble = { retryAfter: response?.headers.get("retry-after"), misconfigured: isOperators };
    if (reason === "invalid_client") return this.#refreshes.allFailed(startedAt, trouble);
    if (isOperators || (response !== undefined && mayBeTokensFault(response)))
      return this.#refreshes.tokenFailed(session, startedAt, trouble);
    if (response === undefined && reason !== "too_large") return this.#refreshes.allFailed(startedAt, trouble);
    return this.#refreshes.sessionFailed(session, startedAt, trouble);
  }

  async #ask(
    grant: Grant,
    metadata: ProviderMetadata,
    send: () => Promise<ProviderResponse>,
    { worked, failed }: { readonly worked: () => void; readonly failed: (failure: Failure) => number },
  ): Promise<TokenBody> {
    const { clock, events, misconfigurations } = this.#options;
    const startedAt = clock.monotonic();
    const emitOutage = (reason: string): void => {
      const duration = clock.monotonic() - startedAt;
      events.emit("outage", { issuer: metadata.issuer, side: "provider", endpoint: "token", reason, duration });
    };
    let response: ProviderResponse;
    try {
      response = await send();
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const { reason, cause } = error;
      emitOutage(reason);
      throw new ProviderUnavailableError(reason, {
        retryAfter: failed({ startedAt, response: undefined, reason, isOperators: false }),
        cause,
      });
    }
    const meaning = meaningOf(response, grant);
    if (meaning.kind === "ok" || meaning.kind === "refused") {
      worked();
      if (meaning.kind === "refused") throw new ProviderRefusedError(meaning.reason);
      return meaning.body;
    }
    const isOperators = meaning.kind === "operator";
    const { reason } = meaning;
    emitOutage(reason);
    const retryAfter = failed({ startedAt, response, reason, isOperators });
    if (isOperators) throw misconfigurations.report(this.#mistake(meaning, response.status));
    throw new ProviderUnavailableError(reason, { retryAfter });
  }

  #mistake({ reason }: Extract<Meaning, { kind: "operator" }>, status: number) {
    const sent = `The client authenticated with ${authenticationInWords(this.#options.settings)}.`;
    const message =
      reason === "invalid_client"
        ? `The token endpoint does not accept this client (invalid_client). ${sent} Check IDP_CLIENT_ID, IDP_CLIENT_SECRET and IDP_TOKEN_ENDPOINT_AUTH_METHOD.`
        : `The token endpoint does not allow this client to refresh (${reason}, status ${String(status)}). ${sent} Check the client's settings at the provider.`;
    return { endpoint: "token" as const, reason, message, status };
  }
}

/** Whether this session's token may have caused the 4xx status. */
function mayBeTokensFault({ status }: ProviderResponse): boolean {
  return status >= 400 && status < 500 && !TRY_LATER.has(status);
}
