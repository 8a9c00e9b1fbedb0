/** The client's registrations at its providers. */
import { targetsAt } from "../config/api-scopes.js";
import type { EndpointRegistration } from "../endpoints/context.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { ComponentParts } from "./component-parts.js";
import type { OwnSessions } from "./component-sessions.js";
import { slotsFor } from "./exchange-slots.js";
import type { CheckedSettings } from "./startup.js";

/** Loaded at the start if there are several providers. */
const loadEndpointOwners = lazily(() => import("../provider/endpoint-owners.js"));

export function createRegistrations(
  { providers, apis }: CheckedSettings,
  { options, clock, events, createProvider, rules }: ComponentParts<never>,
  { tasks, own }: RegistrationParts,
): readonly EndpointRegistration[] {
  const loadOwners = lazily(async () =>
    (await loadEndpointOwners()).createEndpointOwners(providers),
  );
  const exchangeSlots = slotsFor("exchange_queue_full", clock);
  const pushSlots = slotsFor("push_queue_full", clock);
  return providers.map(({ key, name, icon, names, settings }) => {
    const client = { issuer: settings.issuer, clientId: settings.clientId };
    const targets = targetsAt(apis.values(), key);
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

/** What the registrations use of the component's other parts. */
interface RegistrationParts {
  readonly tasks: UnawaitedTasks;
  /** idpauth's own sessions, which a provider can end. */
  readonly own: OwnSessions | undefined;
}
