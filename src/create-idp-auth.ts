import { createAccessors } from "./accessors.js";
import type { FrameworkAdapter, IdpAuth, IdpAuthOptions } from "./public-types.js";
import { epochSeconds, systemClock } from "./clock.js";
import { compose, type Component, type ComponentParts } from "./component.js";
import { blockedByOutage, blockedUser } from "./endpoints/guard.js";
import { wouldLoop } from "./endpoints/silent-login.js";
import type { SessionRequest } from "./endpoints/session-request.js";
import { isOutage } from "./errors.js";
import { EventHub } from "./events/event-hub.js";
import { identityOf } from "./events/events.js";
import { stderrLog } from "./events/stderr-log.js";
import { PerRequest } from "./http/request-memory.js";
import { loadedWhenNeeded } from "./provider/lazy-provider.js";
import { checkedSettings } from "./startup.js";

/**
 * Milliseconds for which the guard and the accessors share one read of the session. A request that lives longer, such as an event
 * stream, must see a logout.
 */
const SHARED_READ = 1_000;

/** Creates the component for one framework. It reads no clock, file or network before its start. */
export function createIdpAuth<FrameworkRequest extends object>(
  options: IdpAuthOptions,
  adapter: FrameworkAdapter<FrameworkRequest>,
): IdpAuth<FrameworkRequest> {
  return createIdpAuthOver(options, adapter, loadedWhenNeeded);
}

/** As `createIdpAuth`, with the given provider: for tests that schedule every step. The package does not export it. */
export function createIdpAuthOver<FrameworkRequest extends object>(
  options: IdpAuthOptions,
  adapter: FrameworkAdapter<FrameworkRequest>,
  createProvider: ComponentParts<FrameworkRequest>["createProvider"],
): IdpAuth<FrameworkRequest> {
  const { clock = systemClock, log = stderrLog(clock) } = options;
  const events = new EventHub(log === false ? () => undefined : log, clock);
  const warned = new Set<string>();
  let running: Component<FrameworkRequest> | undefined;

  const start: IdpAuth<FrameworkRequest>["start"] = (facts) => {
    const checked = checkedSettings(options, adapter, facts);
    for (const { code, message, remedy } of checked.findings) {
      if (warned.has(message)) continue;
      warned.add(message);
      events.log({ level: "warn", code, message: `${message} ${remedy}` });
    }
    // A component that is mounted twice has one set of sessions.
    running ??= compose(checked, { options, adapter, clock, events, createProvider });
    return checked.findings;
  };

  function ready(): Component<FrameworkRequest> {
    // If the component was never mounted, the checks run now: a mistake must not look like a signed-out user.
    if (running === undefined) start();
    return running as Component<FrameworkRequest>;
  }

  const visits = new PerRequest<SessionRequest>();
  function visitOf(raw: FrameworkRequest): SessionRequest {
    const known = visits.get(raw);
    if (known !== undefined && clock.monotonic() - known.openedAt < SHARED_READ) return known;
    const visit = ready().open(raw, adapter.request(raw));
    visits.set(raw, visit);
    return visit;
  }

  return {
    ...createAccessors({ ready, visitOf, idle: async () => running?.idle(), events, clock }),
    start,
    handle: (raw) => ready().router.handle(adapter.request(raw), raw),
    async guard(raw) {
      const { settings, access } = ready();
      try {
        const visit = visitOf(raw);
        const outcome = await access.access(visit.session);
        if (outcome.authenticated) return undefined;
        const { reason, record } = outcome;
        events.emit("blocked", { ...identityOf(record?.id_info), reason });
        return blockedUser(visit, reason, settings, wouldLoop(record, settings, epochSeconds(clock)));
      } catch (error) {
        if (!isOutage(error)) throw error;
        return blockedByOutage(error, adapter.request(raw), settings.publicPath);
      }
    },
  };
}
