import type { SourcedProvider } from "../config/read-settings.js";
import type { EndpointRegistration, EndpointSource } from "../endpoints/context.js";
import type { Finding } from "../errors.js";
import { functionThrew } from "../events/log-lines.js";
import type { ClientIdentity } from "../record/record.js";
import type { SourcedRegistrations } from "../tenants/sourced-registrations.js";
import type { TenantFetch } from "../tenants/tenant-fetch.js";
import { lazily } from "../work/lazily.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { ComponentParts } from "./component-parts.js";
import type { Registrations } from "./registrations.js";
import type { CheckedSource } from "./startup.js";

const loadTenants = lazily(async () => {
  const [source, requests, domains] = await Promise.all([
    import("../tenants/sourced-registrations.js"),
    import("../tenants/tenant-fetch.js"),
    import("../tenants/email-domains.js"),
  ]);
  return { ...source, ...requests, ...domains };
});

/** Loaded by its first use. */
const loadCheck = lazily(() => import("../tenants/check-provider.js"));

/** Milliseconds between two lines about one provider's settings. */
const FINDINGS_LINE_MS = 600_000;
/** Providers whose last line is remembered. */
const MAX_REPORTED = 1_000;

/** What a source of providers is connected with. */
export interface LateSourceParts extends Pick<
  ComponentParts<never>,
  "clock" | "events" | "shutdown"
> {
  readonly create: Registrations["create"];
  /** The keys of the list, which the source never has. */
  readonly listed: readonly (string | undefined)[];
  /** Whether an origin is the application's. */
  readonly isOwn: (origin: string) => boolean;
  readonly tasks: UnawaitedTasks;
}

/** Whose provider is checked. */
export interface CheckedCustomer {
  /** Undefined: it has none yet. */
  readonly key: string | undefined;
  /** Undefined: that of BASE_URL. */
  readonly origin: string | undefined;
}

/** A source of providers, for the component and its endpoints. */
export interface LateSource extends SourcedRegistrations<EndpointRegistration>, EndpointSource {
  /**
   * Whether the source still has a session's provider, with the same issuer and client.
   * @throws ProviderUnavailableError as a rejection
   */
  has(client: ClientIdentity & { readonly sourceKey: string }): boolean | Promise<boolean>;
  /** Checks the settings of a provider. */
  check(options: unknown, customer: CheckedCustomer): Promise<readonly Finding[]>;
}

/**
 * Returns the registrations of a source of providers. Only applications that have one load its code,
 * so a request that comes earlier waits.
 */
export function lateSource(
  { options: source, read, inherited }: CheckedSource,
  { create, isOwn, listed, tasks, clock, events, shutdown }: LateSourceParts,
): LateSource {
  let loaded: SourcedRegistrations<EndpointRegistration> | undefined;
  let networkOf: (provider: SourcedProvider) => TenantFetch;
  const reportedAt = new Map<string, number>();

  /** Whether the last line about this provider is old enough. */
  function isReportDue(key: string): boolean {
    const now = clock.monotonic();
    if (now - (reportedAt.get(key) ?? -Infinity) < FINDINGS_LINE_MS) return false;
    if (reportedAt.size >= MAX_REPORTED) reportedAt.clear();
    reportedAt.set(key, now);
    return true;
  }

  const load = lazily(async () => {
    const { createSourcedRegistrations, createTenantFetch, withEmailDomains } = await loadTenants();
    const { internalHosts } = source;
    const networks = {
      public: createTenantFetch({ internalHosts }),
      private: createTenantFetch({ internalHosts, allowPrivateNetwork: true }),
    };
    /** Weak, since a provider that is forgotten or changed needs its connections no more. */
    const certified = new Set<WeakRef<TenantFetch>>();
    shutdown.atEnd(() => {
      networks.public.close();
      networks.private.close();
      for (const one of certified) one.deref()?.close();
    });
    const certifiedFor = (provider: SourcedProvider): TenantFetch | undefined => {
      const one = networkOf(provider).certified(provider.settings);
      if (one === undefined) return undefined;
      for (const known of certified) if (known.deref() === undefined) certified.delete(known);
      certified.add(new WeakRef(one));
      return one;
    };
    networkOf = ({ allowPrivateNetwork }) => networks[allowPrivateNetwork ? "private" : "public"];
    return (loaded = createSourcedRegistrations({
      source,
      read,
      clock,
      create(configured) {
        const { key, emailDomains } = configured;
        const { fetch, ...network } = networkOf(configured);
        // An endpoint of our own, such as the logout, would be a click of our own page.
        const allows = (address: URL) => network.allows(address) && !isOwn(address.origin);
        const own = certifiedFor(configured);
        // What is called keeps `own`, and with it what the shutdown finds.
        const certified = own && ((...request: Parameters<typeof fetch>) => own.fetch(...request));
        const registration = create(configured, { fetch, certified, allows, sourceKey: key });
        return emailDomains === null
          ? registration
          : { ...registration, provider: withEmailDomains(registration.provider, emailDomains) };
      },
      // With the key of each stranger, the log would have as many kinds of lines as there are keys.
      onFailure(key, error) {
        events.log(functionThrew("providerSource.find", error.cause), key);
      },
      onFindings(key, findings) {
        if (!isReportDue(key)) return;
        for (const { code, severity, message, remedy } of findings)
          events.log({
            level: severity === "error" ? "error" : "warn",
            code,
            // The message names the provider.
            message: `${message} ${remedy}`,
            details: { provider: key },
          });
      },
    }));
  });
  tasks.add(load());
  const find: LateSource["find"] = (key, origin) => {
    // A customer could have had a key before the list has, and their users would pass its rules.
    if (listed.includes(key)) return undefined;
    return loaded === undefined
      ? load().then((registrations) => registrations.find(key, origin))
      : loaded.find(key, origin);
  };
  return {
    inherited,
    findByEmailDomain: source.findByEmailDomain,
    remembered: (key) => loaded?.remembered(key),
    find,
    has(client) {
      const found = find(client.sourceKey, "session");
      return found instanceof Promise
        ? found.then((registration) => isAt(registration, client))
        : isAt(found, client);
    },
    forget: (key) => loaded?.forget(key),
    async check(options, { key, origin }) {
      const [{ checkProvider }] = await Promise.all([loadCheck(), load()]);
      const readOptions = (given: unknown) => read(key ?? "provider", given);
      return checkProvider({ options, read: readOptions, networkOf, key, origin, clock });
    },
  };
}

function isAt(
  registration: EndpointRegistration | undefined,
  { issuer, clientId }: ClientIdentity,
): boolean {
  return registration?.issuer === issuer && registration.clientId === clientId;
}
