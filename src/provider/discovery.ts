import { allowInsecureRequests, customFetch, discovery, None, type Configuration, type ServerMetadata } from "openid-client";
import { ProviderUnavailableError } from "../core/errors.js";
import type { EventHub } from "../core/event-hub.js";
import { isLoopback } from "../core/loopback.js";
import type { Log } from "../core/ports.js";
import { parseUrl } from "../core/redirects.js";
import type { Clock } from "../core/time.js";
import { jsonObject } from "./answers.js";
import type { BackOff } from "./back-off.js";
import { askThrough, untilAborted, type Answer, type Backchannel } from "./backchannel.js";
import { SIGNING_ALGORITHMS } from "./id-token.js";
import { oneAtATime } from "./one-at-a-time.js";
import type { ProviderSettings } from "./settings.js";

/** Milliseconds after which the document is fetched again, in the background. */
const REFRESH_AFTER = 3600 * 1000;

/** The part of the discovery document (OpenID Connect Discovery section 3) that is used, every member of it checked. */
export interface ProviderMetadata extends ServerMetadata {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  /** The asymmetric ones that the provider may sign ID tokens with; default RS256. */
  readonly id_token_signing_alg_values_supported: string[];
}

export interface Discovery {
  /**
   * The provider's metadata: fetched when there is none, else what is at hand, however old, so that a provider that is
   * down changes nothing.
   *
   * @param signal ends this caller's wait
   * @throws ProviderUnavailableError
   */
  current(signal?: AbortSignal): Promise<ProviderMetadata>;
}

interface DiscoveryOptions {
  readonly settings: ProviderSettings;
  readonly backchannel: Backchannel;
  readonly backOff: BackOff;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventHub;
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { settings, backchannel, backOff, clock, log, events } = options;
  let cached: { readonly metadata: ProviderMetadata; readonly fetchedAt: number } | undefined;

  const fetchNow = oneAtATime(async () => {
    backOff.assertReady();
    const startedAt = clock.monotonic();
    let answer: Answer | undefined;
    try {
      answer = await fetchDocument(settings, backchannel);
      const metadata = readDocument(answer, settings);
      backOff.succeeded();
      cached = { metadata, fetchedAt: clock.monotonic() };
      return metadata;
    } catch (error) {
      const retryAfter = backOff.failed(startedAt, answer?.headers.get("retry-after"));
      if (error instanceof OperatorMistake || error instanceof ProviderUnavailableError) {
        const duration = clock.monotonic() - startedAt;
        events.emit("outage", { issuer: settings.issuer, side: "provider", endpoint: "discovery", reason: error.reason, duration });
      }
      if (error instanceof OperatorMistake) {
        log({
          level: "error",
          code: "provider_unavailable",
          message: error.message,
          details: { endpoint: "discovery", reason: error.reason },
        });
        throw new ProviderUnavailableError(error.reason, { retryAfter });
      }
      if (!(error instanceof ProviderUnavailableError)) throw error;
      log({
        level: "warn",
        code: "provider_unavailable",
        message: "The discovery document could not be fetched.",
        details: { endpoint: "discovery", reason: error.reason },
      });
      throw new ProviderUnavailableError(error.reason, { retryAfter, cause: error.cause });
    }
  });

  return {
    current(signal) {
      if (cached === undefined) return untilAborted(signal, fetchNow);
      if (clock.monotonic() - cached.fetchedAt >= REFRESH_AFTER && backOff.secondsLeft() === 0) {
        fetchNow().catch(() => undefined);
      }
      return Promise.resolve(cached.metadata);
    },
  };
}

/** Whether this provider may be asked unencrypted: on this machine, or in debug mode. */
export function allowsHttp({ issuer, debug }: Pick<ProviderSettings, "issuer" | "debug">): boolean {
  const url = parseUrl(issuer);
  return url?.protocol === "http:" && (debug || isLoopback(url.hostname));
}

/**
 * The same of an endpoint that its discovery document names. That the provider itself is on this machine says nothing of
 * where it sends secrets and tokens.
 */
export function allowsHttpTo(endpoint: URL, settings: Pick<ProviderSettings, "issuer" | "debug">): boolean {
  return settings.debug || (allowsHttp(settings) && isLoopback(endpoint.hostname));
}

/** Lifts the library's own insistence on https. Marked deprecated there only to be noticed; it is recognised by identity. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
export const permitHttp: (config: Configuration) => void = allowInsecureRequests;

async function fetchDocument(settings: ProviderSettings, backchannel: Backchannel): Promise<Answer> {
  const { answer } = await askThrough(backchannel, (fetch) =>
    discovery(new URL(settings.issuer), settings.clientId, undefined, None(), {
      [customFetch]: fetch,
      ...(allowsHttp(settings) && { execute: [permitHttp] }),
    }),
  );
  return answer;
}

/** Something that only the person who runs the application, or the provider, can put right. */
class OperatorMistake extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

function readDocument(answer: Answer, settings: ProviderSettings): ProviderMetadata {
  const { status } = answer;
  if (status !== 200) {
    const reason = status >= 300 && status < 400 ? "redirect" : `http_${String(status)}`;
    if (status < 400 || status >= 500 || status === 408 || status === 429) throw new ProviderUnavailableError(reason);
    throw new OperatorMistake(
      reason,
      `The discovery document of IDP_ISSUER was answered with ${String(status)}. Compare IDP_ISSUER with the provider's issuer.`,
    );
  }
  const document = jsonObject(answer);
  if (document === undefined) throw new ProviderUnavailableError("not_json");
  // Exact, also in its trailing slash (OpenID Connect Discovery section 4.3); the library would let that pass.
  if (document["issuer"] !== settings.issuer) {
    throw new OperatorMistake(
      "issuer_mismatch",
      `The discovery document names another issuer than IDP_ISSUER${named(document["issuer"])}.`,
    );
  }
  const required = (name: string): string => {
    const endpoint = endpointOf(document[name], settings);
    if (endpoint === undefined) throw new OperatorMistake("discovery_endpoint", `The discovery document has no usable ${name}.`);
    return endpoint;
  };
  const userinfo = endpointOf(document["userinfo_endpoint"], settings);
  const revocation = endpointOf(document["revocation_endpoint"], settings);
  const scopes = document["scopes_supported"];
  return {
    issuer: settings.issuer,
    authorization_endpoint: required("authorization_endpoint"),
    token_endpoint: required("token_endpoint"),
    jwks_uri: required("jwks_uri"),
    ...(userinfo !== undefined && { userinfo_endpoint: userinfo }),
    ...(revocation !== undefined && { revocation_endpoint: revocation }),
    ...(Array.isArray(scopes) && { scopes_supported: scopes.filter((scope) => typeof scope === "string") }),
    id_token_signing_alg_values_supported: signingAlgorithms(document["id_token_signing_alg_values_supported"]),
    ...(document["authorization_response_iss_parameter_supported"] === true && { authorization_response_iss_parameter_supported: true }),
  };
}

function signingAlgorithms(announced: unknown): string[] {
  return Array.isArray(announced) ? SIGNING_ALGORITHMS.filter((algorithm) => announced.includes(algorithm)) : ["RS256"];
}

/** An absolute https address without user info or fragment; http only where that is allowed. */
function endpointOf(value: unknown, settings: ProviderSettings): string | undefined {
  if (typeof value !== "string") return undefined;
  const url = parseUrl(value);
  if (url === undefined || url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && allowsHttpTo(url, settings)) ? value : undefined;
}

/** Helps to find a slash too much; only what a URL parser has written goes into the log. */
function named(issuer: unknown): string {
  const url = typeof issuer === "string" && issuer.length <= 200 ? parseUrl(issuer) : undefined;
  return url === undefined ? "" : `: ${url.href}`;
}
