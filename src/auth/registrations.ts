/** The client's registrations at its providers, and the requests that go to each at a time. */
import type { Clock } from "../clock.js";
import type { EndpointRegistration } from "../endpoints/context.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import { createSlots, slotsWithin, type Release } from "../work/slots.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { ComponentParts } from "./component-parts.js";
import type { OwnSessions } from "./component-sessions.js";
import type { CheckedSettings } from "./startup.js";

/**
 * The concurrent requests of one process at one provider, and the milliseconds that a further one
 * waits for a slot. Our decision.
 */
const AT_PROVIDER = { limit: 50, patience: 2_000 };

/** The concurrent requests at all providers: enough for several that hang. Our decision. */
const ALL_SLOTS = 4 * AT_PROVIDER.limit;

/** Loaded at the start if there are several providers. */
const loadEndpointOwners = lazily(() => import("../provider/endpoint-owners.js"));

/** @param own idpauth's own sessions, which a provider can end */
export function createRegistrations(
  { providers, apis }: CheckedSettings,
  { options, clock, events, createProvider, rules, tasks, own }: RegistrationParts,
): readonly EndpointRegistration[] {
  const loadOwners = lazily(async () =>
    (await loadEndpointOwners()).createEndpointOwners(providers),
  );
  const exchangeSlots = slotsFor("exchange_queue_full", clock);
  const pushSlots = slotsFor("push_queue_full", clock);
  return providers.map(({ key, name, names, settings }) => {
    const client = { issuer: settings.issuer, clientId: settings.clientId };
    const targets = [...apis.values()].filter(
      ({ target, provider }) => target !== undefined && (provider ?? key) === key,
    );
    return {
      ...client,
      key,
      name,
      settings,
      provider: createProvider({
        settings,
        clock,
        events: events.ofProvider(key),
        names,
        endpoints: providers.length > 1 ? async () => (await loadOwners())(key) : undefined,
        targets,
        tasks,
        ...withoutUndefined({ fetch: options.fetch }),
      }),
      takeExchangeSlot: exchangeSlots(),
      takePushSlot: pushSlots(),
      requestsAuthTime: () => settings.requestAuthTime ?? rules.needsAuthTime(key),
      logouts: own?.logoutsOf(client),
    };
  });
}

interface RegistrationParts extends ComponentParts<never> {
  readonly tasks: UnawaitedTasks;
  readonly own: OwnSessions | undefined;
}

/** Returns what creates the slots of each provider, which are within those of all. */
function slotsFor(reason: string, clock: Clock): () => () => Promise<Release> {
  const slots = (limit: number) => createSlots({ ...AT_PROVIDER, limit, reason, clock });
  const common = slots(ALL_SLOTS);
  return () => slotsWithin(slots(AT_PROVIDER.limit), common);
}
