import type { SessionAccess, SessionRequest } from "../access/session-access.js";
import { isTrue } from "../application/rules.js";
import { epochSeconds, type Clock } from "../clock.js";
import type { Settings } from "../config/read-settings.js";
import { isOutage } from "../errors.js";
import { identityOf, type EventHub } from "../events/event-hub.js";
import { ownOrigin, type IdpRequest } from "../http/request.js";
import { failureReply, retryAfterOf } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import type { SessionRecord } from "../record/record.js";
import { sessionView, type Session } from "../record/session-view.js";
import { wouldLoop } from "../record/silent-login.js";
import { blockedForStepUp, blockedUser, type Blocked } from "./blocked.js";
import { passesCsrf } from "./csrf.js";
import type { GateParts } from "./gate.js";
import { meetsStepUp, stepUpOf, type GuardRule } from "./guard-rule.js";

/** What the guard uses of the running component. */
interface GuardedComponent {
  readonly settings: Settings;
  readonly pages: Pages;
  readonly access: SessionAccess;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly router: { isEndpoint(request: IdpRequest): boolean };
}

/** What a component remembers of one request. */
export interface Remembered {
  opened: SessionRequest;
  /** Returns the session with which a guard let the request pass, whatever reads the session later. */
  passedWith: (() => Session | null) | undefined;
}

export interface GuardParts<FrameworkRequest extends object> {
  /** The component; it is started if it is not running yet. */
  readonly ready: () => GuardedComponent;
  readonly remember: (raw: FrameworkRequest) => Remembered;
  readonly requestOf: (raw: FrameworkRequest) => IdpRequest;
}

/** Decides whether a request may reach a guarded route. */
export function createGuard<FrameworkRequest extends object>(
  parts: GuardParts<FrameworkRequest>,
): Pick<GateParts<FrameworkRequest>, "guard" | "csrf"> {
  const { ready, remember, requestOf } = parts;

  /** Whether the user who passed the policy may pass the rule of the route, too. Undefined: yes. */
  async function ruleOf(opened: SessionRequest, record: SessionRecord, rule: GuardRule): Promise<Blocked | undefined> {
    const { settings, pages, events, clock } = ready();
    const now = epochSeconds(clock);
    if (rule.allow !== undefined) {
      const session = sessionView(record, settings, now);
      if (session === null || !isTrue(await rule.allow(session))) {
        events.emit("blocked", { ...identityOf(record.id_info), reason: "forbidden" });
        return { kind: "forbidden", reply: await failureReply({ code: "forbidden" }, opened.request, pages, "json") };
      }
    }
    const stepUp = stepUpOf(rule);
    if (stepUp === undefined || meetsStepUp(record.id_info, stepUp, now, settings.clockTolerance)) return undefined;
    events.emit("blocked", { ...identityOf(record.id_info), reason: "step_up_required" });
    return blockedForStepUp(opened, stepUp, settings);
  }

  return {
    async guard(raw, rule = {}) {
      const { settings, pages, access, events, clock } = ready();
      let remembered: Remembered;
      let opened: SessionRequest;
      let record: SessionRecord;
      try {
        remembered = remember(raw);
        ({ opened } = remembered);
        const outcome = await access.access(opened.session);
        if (!outcome.authenticated) {
          const { reason } = outcome;
          events.emit("blocked", { ...identityOf(outcome.record?.id_info), reason });
          const prompt = settings.authorizationParams["prompt"] ?? settings.loginPrompt;
          const loops = wouldLoop(outcome.record, prompt, epochSeconds(clock));
          return blockedUser(opened, reason, settings, loops, stepUpOf(rule));
        }
        record = outcome.record;
      } catch (error) {
        if (!isOutage(error)) throw error;
        const retryAfter = retryAfterOf(error);
        const reply = await failureReply({ code: error.code, retryAfter }, requestOf(raw), pages, "json");
        return { kind: "unavailable", reply, error, retryAfter };
      }
      const now = epochSeconds(clock);
      const isOpen = rule.allow === undefined && rule.maxAge === undefined && rule.acr === undefined;
      const blocked = isOpen ? undefined : await ruleOf(opened, record, rule);
      if (blocked === undefined) remembered.passedWith = () => sessionView(record, settings, now);
      return blocked;
    },
    csrf(raw) {
      const { settings, pages, router, events } = ready();
      const request = requestOf(raw);
      if (passesCsrf(request, () => ownOrigin(request, settings)) || router.isEndpoint(request)) return undefined;
      events.emit("blocked", { reason: "cross_origin" });
      return failureReply({ code: "cross_origin" }, request, pages, "json");
    },
  };
}
