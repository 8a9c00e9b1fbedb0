import type { IdpAuthNames } from "../config/inferred-names.js";
import type { Finding } from "../errors.js";
import { createGates, type GateParts, type Gates } from "../guard/gate.js";
import { type Usage } from "../guard/guard-usage.js";
import type { AdapterAuth, FrameworkAdapter, FrameworkFacts, IdpAuth } from "./adapter-types.js";
import { createIdpAuth } from "./create-idp-auth.js";
import type { IdpAuthOptions } from "./idp-auth-options.js";

/** What an adapter builds its `auth` object from. */
export interface AdapterParts<
  FrameworkRequest extends object,
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
> {
  /** The functions of the `auth` object that are the same on every framework. */
  readonly auth: AdapterAuth<FrameworkRequest, OwnClaims, Data, Names> & {
    /** As of `AdapterAuth`, with what the adapter knows about its framework. */
    start(facts?: FrameworkFacts): readonly Finding[];
  };
  /** The adapter makes its middleware and guards from them. */
  readonly gates: Gates<FrameworkRequest, OwnClaims, Data, Names>;
  /** The path that all endpoints begin with, for adapters of frameworks that route by path. */
  readonly mountPath: IdpAuth<FrameworkRequest>["mountPath"];
  /** For adapters of servers that have the event `upgrade`. */
  readonly proxyUpgrade: IdpAuth<FrameworkRequest>["proxyUpgrade"];
  /** The adapter makes its `eventStream` from it. */
  readonly openEventStream: IdpAuth<FrameworkRequest>["openEventStream"];
  /** For adapters of frameworks that give no response of their own to an error of idpauth. */
  readonly uncaught: IdpAuth<FrameworkRequest>["uncaught"];
}

/**
 * Creates what an adapter adds its framework's middleware to.
 *
 * @param usage how applications of the framework write their guards
 */
export function createAdapterAuth<
  FrameworkRequest extends object,
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
>(
  options: IdpAuthOptions<OwnClaims, Data, Names>,
  adapter: FrameworkAdapter<FrameworkRequest>,
  usage: Usage,
): AdapterParts<FrameworkRequest, OwnClaims, Data, Names> {
  const {
    handle,
    guard,
    declareGuard,
    csrf,
    proxyApi,
    proxyUpgrade,
    openEventStream,
    mountPath,
    isClosing,
    uncaught,
    ...auth
  } = createIdpAuth(options, adapter);
  // Inside, the types of the application's claims and data do not matter.
  const parts = { isClosing, handle, csrf, guard, declareGuard, proxyApi };
  const gates = createGates(parts as unknown as GateParts<FrameworkRequest>, usage);
  return { auth, gates, mountPath, proxyUpgrade, openEventStream, uncaught };
}
