/** The client's registrations at its providers. */
import { targetsAt } from "../config/api-scopes.js";
import type { ConfiguredProvider } from "../config/read-settings.js";
import type { EndpointRegistration } from "../endpoints/context.js";
import type { OwnEndpoints } from "../provider/endpoint-owners.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { ComponentParts } from "./component-parts.js";
import type { OwnSessions } from "./component-sessions.js";
import { slotsFor } from "./exchange-slots.js";
import type { CheckedSettings } from "./startup.js";

/** Loaded at the start if there are several providers. */
const loadEndpointOwners = lazily(() => import("../provider/endpoint-owners.js"));

/** What a registration has besides what its provider's settings say. */
export interface RegistrationExtras {
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Shows the client's certificate. Default: connections of its own, if it has one. */
  readonly certified?: typeof globalThis.fetch | undefined;
  /** Whether an address of the provider's document may be used. Default: any. */
  readonly allows?: (address: URL) => boolean;
  /** Loads what tells its endpoints from those of other providers. */
  readonly endpoints?: (() => Promise<OwnEndpoints | undefined>) | undefined;
  /** The provider's key, if a source gave it. */
  readonly sourceKey?: string;
}

export interface Registrations {
  /** Those that are known at the start. */
  readonly list: readonly EndpointRegistration[];
  /** Returns the registration at a provider from a source. */
  create(provider: ConfiguredProvider, extras: RegistrationExtras): EndpointRegistration;
}

export function createRegistrations(
  { providers, apis }: CheckedSettings,
  { options, clock, events, createProvider, rules, shutdown }: ComponentParts<never>,
  { tasks, own }: RegistrationParts,
): Registrations {
  const loadOwners = lazily(async () =>
    (await loadEndpointOwners()).createEndpointOwners(providers),
  );
  const exchangeSlots = slotsFor("exchange_queue_full", clock);
  const pushSlots = slotsFor("push_queue_full", clock);

  function create(
    { key, name, icon, names, settings }: ConfiguredProvider,
    { sourceKey, endpoints, fetch, certified, allows }: RegistrationExtras,
  ): EndpointRegistration {
    const client = {
      issuer: settings.issuer,
      clientId: settings.clientId,
      ...withoutUndefined({ sourceKey }),
    };
    const isSourced = sourceKey !== undefined;
    return {
      ...client,
      key,
      name,
      icon,
      settings,
      provider: createProvider({
        settings,
        clock,
        events: events.ofProvider(key),
        names,
        endpoints,
        targets: targetsAt(apis.values(), key),
        tasks,
        shutdown,
        ...withoutUndefined({ fetch, certified, allows }),
      }),
      takeExchangeSlot: exchangeSlots(isSourced),
      takePushSlot: pushSlots(isSourced),
      requestsAuthTime: () => settings.requestAuthTime ?? rules.needsAuthTime(key),
      logouts: own?.logoutsOf(client),
    };
  }

  return {
    list: providers.map((one) =>
      create(one, {
        fetch: options.fetch,
        endpoints: providers.length > 1 ? async () => (await loadOwners())(one.key) : undefined,
      }),
    ),
    create,
  };
}

/** What the registrations use of the component's other parts. */
interface RegistrationParts {
  readonly tasks: UnawaitedTasks;
  /** idpauth's own sessions, which a provider can end. */
  readonly own: OwnSessions | undefined;
}
