/**
 * Which endpoints belong to which of several providers. With the endpoints of another provider, an
 * operator could have idpauth authenticate there (RFC 9700 section 4.4): the audience of a client
 * assertion can be the token endpoint.
 */
import { ENDPOINT_NAMES, type Endpoints } from "../config/endpoints-kind.js";
import { profileOf } from "../config/provider-profiles.js";
import { parseUrl } from "../http/redirects.js";

/** What the owners know of a provider: its endpoints, and which of them its settings name. */
export interface OwnedEndpoints {
  readonly issuer: string;
  readonly metadata: Endpoints & { readonly replaced_endpoints?: readonly string[] };
  /** IDP_PROVIDER_METADATA: the operator's own words count, whosever endpoint it is. */
  readonly providerMetadata: Endpoints;
}

/** An endpoint that belongs to another provider. */
export interface ForeignEndpoint {
  readonly name: keyof Endpoints;
  /** The key of its provider. */
  readonly owner: string;
}

/** One provider's part of the owners. */
export interface OwnEndpoints {
  /** Remembers the endpoints of the newest discovery document. */
  discovered(endpoints: OwnedEndpoints): void;
  /**
   * Returns an endpoint of this provider that is another one's, as far as their documents are
   * known. An endpoint on the origin of only one of the two issuers is that one's, otherwise the
   * one's that is configured first.
   */
  foreign(): ForeignEndpoint | undefined;
}

/**
 * Returns the part of one of several providers. Undefined: there is one, without a key.
 *
 * @param providers in the order of the settings
 */
export function createEndpointOwners(
  providers: readonly { readonly key: string | undefined }[],
): (key: string | undefined) => OwnEndpoints | undefined {
  const order = providers.flatMap(({ key }) => key ?? []);
  const known = new Map<string, OwnedEndpoints>();
  const found = new Map<string, ForeignEndpoint | undefined>();

  function find(key: string): ForeignEndpoint | undefined {
    const own = known.get(key);
    if (own === undefined) return undefined;
    for (const [owner, other] of known) {
      if (owner === key || own.issuer === other.issuer) continue;
      const theirs = new Set(
        [
          ...ENDPOINT_NAMES.map((name) => other.metadata[name]),
          ...(other.metadata.replaced_endpoints ?? []),
        ].flatMap(addressOf),
      );
      const name = ENDPOINT_NAMES.find(
        (name) =>
          own.providerMetadata[name] === undefined &&
          addressOf(own.metadata[name]).some((address) => theirs.has(address)) &&
          !isShared(name, own, other) &&
          !isOf(own.metadata[name], {
            own,
            other,
            isFirst: order.indexOf(key) < order.indexOf(owner),
          }),
      );
      if (name !== undefined) return { name, owner };
    }
    return undefined;
  }

  return (key) =>
    key === undefined
      ? undefined
      : {
          discovered(endpoints) {
            known.set(key, endpoints);
            // Every call to a provider asks, and documents are rarely fetched.
            for (const one of known.keys()) found.set(one, find(one));
          },
          foreign: () => found.get(key),
        };
}

/** Whether two issuers of one provider have this endpoint in common. */
function isShared(name: keyof Endpoints, own: OwnedEndpoints, other: OwnedEndpoints): boolean {
  const profile = profileOf(own.issuer);
  const { sharedEndpoints }: { readonly sharedEndpoints: readonly string[] } = profile;
  return sharedEndpoints.includes(name) && profileOf(other.issuer) === profile;
}

interface Claimants {
  readonly own: OwnedEndpoints;
  readonly other: OwnedEndpoints;
  /** Whether this provider is configured before the other one. */
  readonly isFirst: boolean;
}

/** Whether an endpoint that two providers name is this one's. */
function isOf(endpoint: string | undefined, { own, other, isFirst }: Claimants): boolean {
  const origin = parseUrl(endpoint ?? "")?.origin;
  const isAtOwn = origin === parseUrl(own.issuer)?.origin;
  const isAtOther = origin === parseUrl(other.issuer)?.origin;
  return isAtOwn === isAtOther ? isFirst : isAtOwn;
}

/**
 * The address in the form that is compared, without empty parts of its path; none for a missing
 * endpoint.
 */
function addressOf(endpoint: string | undefined): string[] {
  const url = parseUrl(endpoint ?? "");
  if (url === undefined) return [];
  // Split, since an expression for the slashes at the end takes quadratic time over a path of slashes.
  const parts = url.pathname.split("/").filter((part) => part !== "");
  return [`${url.origin}/${parts.join("/")}${url.search}`.toLowerCase()];
}
