import { createAccessors } from "./accessors.js";
import type { FrameworkAdapter, IdpAuth, IdpAuthOptions } from "./public-types.js";
import { epochSeconds, systemClock } from "./clock.js";
import { compose, type Component, type ComponentParts } from "./component.js";
import { failureReply } from "./endpoints/failure-reply.js";
import { blockedByOutage, blockedByRule, blockedForStepUp, blockedUser, type Blocked } from "./endpoints/guard.js";
import { meetsStepUp, stepUpOf, type GuardRule } from "./endpoints/guard-rule.js";
import { wouldLoop } from "./endpoints/silent-login.js";
import type { SessionRequest } from "./endpoints/session-request.js";
import { isTrue } from "./application/rules.js";
import { check } from "./config/check-table.js";
import { isGoogleIssuer } from "./config/provider-hosts.js";
import { isOutage, type Finding } from "./errors.js";
import { EventHub } from "./events/event-hub.js";
import { passesCsrf } from "./http/csrf.js";
import { assertGuardOptions } from "./http/guard-usage.js";
import { ownOrigin } from "./http/own-origin.js";
import type { SessionRecord } from "./record/record.js";
import { sessionView } from "./record/session-view.js";
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
export function createIdpAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
>(options: IdpAuthOptions<OwnClaims, Data>, adapter: FrameworkAdapter<FrameworkRequest>): IdpAuth<FrameworkRequest, OwnClaims, Data> {
  // Inside, the application's types do not matter: what its functions return is checked as JSON.
  return createIdpAuthOver(options as unknown as IdpAuthOptions, adapter, loadedWhenNeeded) as unknown as IdpAuth<
    FrameworkRequest,
    OwnClaims,
    Data
  >;
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
  let usesMaxAge = false;
  let running: Component<FrameworkRequest> | undefined;

  function warn({ code, message, remedy }: Finding): void {
    if (warned.has(message)) return;
    warned.add(message);
    events.log({ level: "warn", code, message: `${message} ${remedy}` });
  }

  /** Google documents no `max_age`, so a route with `maxAge` might never let a user pass. */
  function warnOfMaxAge(settings = running?.settings): void {
    usesMaxAge = true;
    if (settings !== undefined && isGoogleIssuer(settings.issuer)) warn(check("W016"));
  }

  const start: IdpAuth<FrameworkRequest>["start"] = (facts) => {
    const checked = checkedSettings(options, adapter, facts);
    for (const finding of checked.findings) warn(finding);
    if (usesMaxAge) warnOfMaxAge(checked.settings);
    // A component that is mounted twice has one set of sessions.
    running ??= compose(checked, { options, adapter, clock, events, createProvider });
    return checked.findings;
  };

  function ready(): Component<FrameworkRequest> {
    // If the component was never mounted, the checks run now: a mistake must not look like a signed-out user.
    if (running === undefined) start();
    return running as Component<FrameworkRequest>;
  }

  /** Whether the user who passed the policy may pass the rule of the route, too. Undefined: yes. */
  async function ruleOf(visit: SessionRequest, record: SessionRecord, rule: GuardRule): Promise<Blocked | undefined> {
    const { settings, pages } = ready();
    const now = epochSeconds(clock);
    if (rule.allow !== undefined) {
      const session = sessionView(record, settings, now);
      if (session === null || !isTrue(await rule.allow(session))) {
        events.emit("blocked", { ...identityOf(record.id_info), reason: "forbidden" });
        return blockedByRule(visit, pages);
      }
    }
    const stepUp = stepUpOf(rule);
    if (stepUp === undefined || meetsStepUp(record.id_info, stepUp, now, settings.clockTolerance)) return undefined;
    events.emit("blocked", { ...identityOf(record.id_info), reason: "step_up_required" });
    return blockedForStepUp(visit, stepUp, settings);
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
    ...createAccessors({
      ready,
      visitOf,
      requestOf: (raw) => adapter.request(raw),
      onClose: adapter.onClose?.bind(adapter),
      idle: async () => running?.idle(),
      events,
      clock,
    }),
    start,
    handle: (raw) => ready().router.handle(adapter.request(raw), raw),
    async guard(raw, rule) {
      const { settings, pages, access } = ready();
      let visit: SessionRequest;
      let record: SessionRecord;
      try {
        visit = visitOf(raw);
        const outcome = await access.access(visit.session);
        if (!outcome.authenticated) {
          const { reason } = outcome;
          events.emit("blocked", { ...identityOf(outcome.record?.id_info), reason });
          const loops = wouldLoop(outcome.record, settings, epochSeconds(clock));
          return blockedUser(visit, reason, settings, loops, rule && stepUpOf(rule));
        }
        record = outcome.record;
      } catch (error) {
        if (!isOutage(error)) throw error;
        return blockedByOutage(error, adapter.request(raw), pages);
      }
      return rule === undefined || isEmpty(rule) ? undefined : ruleOf(visit, record, rule);
    },
    declareGuard(guardOptions) {
      assertGuardOptions(guardOptions);
      if (guardOptions.maxAge !== undefined) warnOfMaxAge();
    },
    csrf(raw) {
      const { settings, pages, router } = ready();
      const request = adapter.request(raw);
      if (passesCsrf(request, () => ownOrigin(request, settings)) || router.isEndpoint(request)) return undefined;
      events.emit("blocked", { reason: "cross_origin" });
      return failureReply({ code: "cross_origin" }, request, pages, "json");
    },
  };
}

/** Whether a guard has no rule, so that a signed-in user may pass. */
function isEmpty({ allow, maxAge, acr }: GuardRule): boolean {
  return allow === undefined && maxAge === undefined && acr === undefined;
}
