import { ProviderUnavailableError } from "../errors.js";
import { oneAtATime } from "../work/slots.js";
import { fetchDocument } from "./discovery-request.js";
import { untilAborted } from "./http-to-provider.js";
import type { Misconfiguration } from "./operator-reports.js";
import type { ProviderConnection } from "./provider-connection.js";
import { readDocument, type MisconfiguredAs, type ProviderMetadata } from "./provider-metadata.js";

/** After which the document is fetched again in the background. */
const DOCUMENT_REFRESH_MS = 3600 * 1000;
/** Between two fetches because of what a token shows. */
const DOCUMENT_RENEWAL_MS = 30_000;

/** The same while the document names another provider's endpoint. */
const FOREIGN_DOCUMENT_MS = 60 * 1000;

export interface Discovery {
  /**
   * Returns the provider's metadata, from the cache or the provider. Metadata in the cache never
   * expires, so that an outage changes nothing.
   *
   * @param signal ends the wait of this call
   * @throws ProviderUnavailableError
   */
  current(signal?: AbortSignal): Promise<ProviderMetadata>;
  /**
   * As `current`, but not older than 30 seconds, since the provider may have changed its metadata.
   */
  renewed(signal?: AbortSignal): Promise<ProviderMetadata>;
}

export function createDiscovery(connection: ProviderConnection): Discovery {
  const { settings, clock, http, allows } = connection;
  const backOff = connection.backOff();
  let cached: { readonly metadata: ProviderMetadata; readonly fetchedAt: number } | undefined;

  const fetchNow = oneAtATime(async () => {
    backOff.assertReady();
    let mistake: Misconfiguration | undefined;
    const misconfiguredAs: MisconfiguredAs = (reason, message) => {
      mistake = { endpoint: "discovery", reason, message };
      return new ProviderUnavailableError(reason, { misconfigured: true });
    };
    return connection.call({
      endpoint: "discovery",
      backOff,
      send: () => fetchDocument(settings, http),
      read: (response) => {
        const metadata = readDocument(response, settings, { misconfiguredAs, allows });
        connection.resolved("discovery");
        const { issuer, providerMetadata } = settings;
        connection.endpoints?.discovered({ issuer, providerMetadata, metadata });
        cached = { metadata, fetchedAt: clock.monotonic() };
        return metadata;
      },
      line: () => mistake && connection.lineOf(mistake),
    });
  });

  /** @throws ProviderUnavailableError the document names an endpoint of another provider */
  function assertOwn(metadata: ProviderMetadata): ProviderMetadata {
    const foreign = connection.endpoints?.foreign();
    if (foreign === undefined) return metadata;
    const { name, owner } = foreign;
    throw connection.misconfigured({
      endpoint: "discovery",
      reason: "foreign_endpoint",
      message: ({ env }) =>
        `The ${name} in the discovery document is an endpoint of the provider ${owner}, so idpauth doesn't use this provider. If both have the same endpoint on purpose, set it in ${env("providerMetadata")}.`,
    });
  }

  function current(signal?: AbortSignal): Promise<ProviderMetadata> {
    const { endpoints } = connection;
    if (cached === undefined) {
      const fetched = untilAborted(signal, fetchNow);
      return endpoints === undefined ? fetched : fetched.then(assertOwn);
    }
    const refreshMs =
      endpoints?.foreign() === undefined ? DOCUMENT_REFRESH_MS : FOREIGN_DOCUMENT_MS;
    if (clock.monotonic() - cached.fetchedAt >= refreshMs && backOff.secondsLeft() === 0) {
      fetchNow().catch(() => undefined);
    }
    const known = Promise.resolve(cached.metadata);
    return endpoints === undefined ? known : known.then(assertOwn);
  }

  function renewed(signal?: AbortSignal): Promise<ProviderMetadata> {
    const isRecent =
      cached !== undefined && clock.monotonic() - cached.fetchedAt < DOCUMENT_RENEWAL_MS;
    return isRecent ? current(signal) : untilAborted(signal, fetchNow);
  }

  return { current, renewed };
}
