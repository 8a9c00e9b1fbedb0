import type { SessionAccess, SignedIn } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import { isTrue } from "../application/rules.js";
import { epochSeconds, type Clock } from "../clock.js";
import type { CommonSettings, Settings } from "../config/read-settings.js";
import { isOutage, thrownBy } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { ownOrigin, type IdpRequest } from "../http/request.js";
import { failureReply } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import type { Registration } from "../ports/registration.js";
import { userPayload } from "../record/identity.js";
import { sessionView, type Session } from "../record/session-view.js";
import { wouldLoop } from "../record/silent-login.js";
import { blockedByOutage, blockedForStepUp, blockedUser, type Blocked } from "./blocked.js";
import { passesCsrf } from "./csrf.js";
import type { GateParts } from "./gate.js";
import type { GuardRule } from "../config/rule-options.js";
import { meetsStepUp, providersOf, stepUpOf } from "./guard-rule.js";

type GuardedRegistration = Registration & { readonly settings: Settings };

/** What the guard uses of the running component. */
interface GuardedComponent {
  readonly settings: CommonSettings;
  readonly registrations: readonly GuardedRegistration[];
  readonly pages: Pages;
  readonly access: SessionAccess;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly router: { isEndpoint(request: IdpRequest): boolean };
}

/** What a component remembers of one request. */
export interface Remembered {
  opened: SessionRequest;
  /**
   * Returns the session with which a guard let the request pass, whatever reads the session later.
   */
  passedWith: (() => Session | null) | undefined;
}

export interface GuardParts<FrameworkRequest extends object> {
  /** The component; it is started if it is not running yet. */
  readonly ready: () => GuardedComponent;
  readonly remember: (raw: FrameworkRequest) => Remembered;
  readonly requestOf: (raw: FrameworkRequest) => IdpRequest;
}

/** As a guard, for a session that was opened without a framework's request. */
export type GuardOpened = (opened: SessionRequest, rule: GuardRule) => Promise<Blocked | undefined>;

/** Decides whether a request may reach a guarded route. */
// eslint-disable-next-line max-lines-per-function -- A factory: small functions that share its variables.
export function createGuard<FrameworkRequest extends object>(
  parts: GuardParts<FrameworkRequest>,
): Pick<GateParts<FrameworkRequest>, "guard" | "csrf"> & { readonly guardOpened: GuardOpened } {
  const { ready, remember, requestOf } = parts;

  /** Whether the user who passed the policy may pass the rule of the route, too. Undefined: yes. */
  async function ruleOf(
    opened: SessionRequest,
    { record, owner }: SignedIn,
    rule: GuardRule,
  ): Promise<Blocked | undefined> {
    const component = ready();
    const { settings, pages, events, clock } = component;
    const now = epochSeconds(clock);
    const providers = providersOf(rule);
    // First: the other checks are for users of these providers.
    if (
      providers !== undefined &&
      (owner.provider === undefined || !providers.includes(owner.provider))
    ) {
      events.emit("blocked", { ...owner.identity, reason: "provider_required" });
      return blockedForStepUp(opened, { provider: providers[0] }, component);
    }
    if (rule.allow !== undefined) {
      const session = sessionView(record, settings, now, owner.provider);
      if (session === null || !(await isAllowed(rule.allow, session))) {
        events.emit("blocked", { ...owner.identity, reason: "forbidden" });
        return {
          kind: "forbidden",
          reply: await failureReply(
            { code: "forbidden", user: userPayload(record.id_info) },
            opened.request,
            pages,
            "json",
          ),
        };
      }
    }
    const stepUp = stepUpOf(rule);
    if (stepUp === undefined || meetsStepUp(record.id_info, stepUp, now, settings.clockTolerance))
      return undefined;
    events.emit("blocked", { ...owner.identity, reason: "step_up_required" });
    return blockedForStepUp(opened, { stepUp, provider: owner.provider }, component);
  }

  async function decide(
    rule: GuardRule,
    request: () => IdpRequest,
    seen: () => Remembered,
  ): Promise<Blocked | undefined> {
    const component = ready();
    const { settings, registrations, access, events, clock } = component;
    let remembered: Remembered;
    let opened: SessionRequest | undefined;
    let signedIn: SignedIn;
    try {
      remembered = seen();
      ({ opened } = remembered);
      const outcome = await access.access(opened.session);
      if (!outcome.authenticated) {
        const { reason } = outcome;
        events.emit("blocked", { ...outcome.owner.identity, reason });
        const provider = providersOf(rule)?.[0];
        const loops = wouldLoop(
          outcome.record,
          promptAt(provider ?? settings.defaultProvider, registrations),
          epochSeconds(clock),
        );
        return await blockedUser(opened, reason, component, {
          stepUp: stepUpOf(rule),
          provider,
          loops,
        });
      }
      signedIn = outcome;
    } catch (error) {
      if (!isOutage(error)) throw error;
      const provider = providersOf(rule)?.[0];
      const where = opened ?? { request: request(), origin: undefined };
      return blockedByOutage(error, where, component, provider);
    }
    const now = epochSeconds(clock);
    const isOpen =
      rule.allow === undefined &&
      rule.maxAge === undefined &&
      rule.acr === undefined &&
      rule.provider === undefined;
    const blocked = isOpen ? undefined : await ruleOf(opened, signedIn, rule);
    if (blocked === undefined)
      remembered.passedWith = () =>
        sessionView(signedIn.record, settings, now, signedIn.owner.provider);
    return blocked;
  }

  return {
    guard: (raw, rule = {}) =>
      decide(
        rule,
        () => requestOf(raw),
        () => remember(raw),
      ),
    guardOpened: (opened, rule) =>
      decide(
        rule,
        () => opened.request,
        () => ({ opened, passedWith: undefined }),
      ),
    csrf(raw) {
      const { settings, pages, router, events } = ready();
      const request = requestOf(raw);
      if (passesCsrf(request, () => ownOrigin(request, settings)) || router.isEndpoint(request))
        return undefined;
      events.emit("blocked", { reason: "cross_origin" });
      return failureReply({ code: "cross_origin" }, request, pages, "json");
    },
  };
}

async function isAllowed(
  allow: NonNullable<GuardRule["allow"]>,
  session: Session,
): Promise<boolean> {
  try {
    return isTrue(await allow(session));
  } catch (error) {
    throw thrownBy("allow", error);
  }
}

/**
 * The `prompt` of the logins that the guard starts. Undefined: none, or the user first chooses a
 * provider.
 */
function promptAt(key: string | null, registrations: readonly GuardedRegistration[]): unknown {
  const { settings } =
    (registrations.length === 1
      ? registrations[0]
      : registrations.find((one) => one.key === key)) ?? {};
  return settings?.authorizationParams["prompt"] ?? settings?.loginPrompt;
}
