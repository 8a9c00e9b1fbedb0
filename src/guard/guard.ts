import { loginProviders } from "../access/login-provider.js";
import type { SessionAccess, SignedIn, SignedOut } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import type { EpochSeconds } from "../clock.js";
import type { CommonSettings, Settings } from "../config/read-settings.js";
import { isOutage, ProviderUnavailableError, thrownBy } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { functionThrew } from "../events/log-lines.js";
import type { HostGate } from "../http/origins.js";
import { isAtUnknownHost, ownOrigin } from "../http/own-origin.js";
import type { Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { failureReply } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import { unknownHostReply } from "../pages/unknown-host.js";
import type { Facts, Observation, Operation, Operations } from "../ports/observer.js";
import type { Registration } from "../ports/registration.js";
import { meetsStepUp } from "../record/authentication-strength.js";
import {
  providersOf,
  requiredBy,
  stepUpOf,
  type GuardedUser,
  type GuardRule,
  type ProviderOf,
  type RouteRule,
  type RuleRequirement,
} from "../record/guard-requirements.js";
import { userPayload } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { sessionView, type Session } from "../record/session-view.js";
import { wouldLoop } from "../record/silent-login.js";
import {
  blockedByOutage,
  blockedForStepUp,
  blockedUser,
  type Blocked,
} from "./blocked-responses.js";
import { isSafe, passesCsrf } from "./csrf.js";
import { assertKnownKeys } from "./guard-usage.js";

type GuardedRegistration = Registration & { readonly settings: Settings };

/** What the guard uses of the running component. */
interface GuardedComponent {
  readonly settings: CommonSettings;
  readonly registrations: readonly GuardedRegistration[];
  /**
   * The registration at the provider with this key.
   * @throws ProviderUnavailableError as a rejection
   */
  registrationAt(key: string): unknown;
  /** The further providers that this process remembers. Undefined: there are none. */
  readonly source: { remembered(key: string): GuardedRegistration | undefined } | undefined;
  readonly pages: Pages;
  readonly hosts: HostGate | undefined;
  readonly access: SessionAccess;
  readonly events: EventHub;
  readonly router: { isEndpoint(request: IdpRequest): boolean };
}

const GUARD: Operation = { name: "guard" };
const PASSED: Facts = { outcome: "passed" };
const NO_RULE: GuardRule = {};

/** What a component remembers of one request. */
export interface Remembered {
  opened: SessionRequest;
  /** The user whom a guard let pass, whatever reads the session later. */
  passedWith: PassedUser | undefined;
}

/** A user whom a guard let pass. */
interface PassedUser {
  /** Returns the session that the guard saw. */
  session(): Session | null;
}

export interface GuardParts<FrameworkRequest extends object> {
  /** The component; it is started if it is not running yet. */
  readonly ready: () => GuardedComponent;
  readonly memory: { remember(raw: FrameworkRequest): Remembered };
  readonly adapter: { request(raw: FrameworkRequest): IdpRequest };
  readonly events: Operations;
}

/**
 * As a guard, for a session that was opened without a framework's request. Every rule must let it
 * pass, and all of them act as one: a user who is forbidden something isn't sent to a login, another
 * one logs in once for all that is required, and there is one event.
 */
export type GuardOpened = (
  opened: SessionRequest,
  rules: readonly GuardRule[],
) => Promise<Blocked | undefined>;

/** Decides which requests may go on to the application's handlers. */
export interface RequestGuard<FrameworkRequest extends object> {
  /**
   * Whether a request may reach a guarded route. Undefined: yes.
   *
   * @throws TypeError the rule has an unknown key, which nothing checks
   */
  guard(
    raw: FrameworkRequest,
    rule?: RouteRule<object, Record<string, unknown>, string, FrameworkRequest>,
  ): Promise<Blocked | undefined>;
  readonly guardOpened: GuardOpened;
  /** The reply to a request that may be forged. Undefined: the request may pass. */
  csrf(raw: FrameworkRequest): Promise<Reply | undefined> | undefined;
}

export function createGuard<FrameworkRequest extends object>({
  ready,
  memory,
  adapter,
  events,
}: GuardParts<FrameworkRequest>): RequestGuard<FrameworkRequest> {
  const ofFramework: RequestSource<FrameworkRequest> = {
    request: (raw) => adapter.request(raw),
    remember: (raw, rules) => {
      for (const rule of rules) assertKnownKeys(rule);
      return memory.remember(raw);
    },
  };
  const ofOpened: RequestSource<SessionRequest> = {
    request: ({ request }) => request,
    remember: (opened) => ({ opened, passedWith: undefined }),
  };

  async function decide<Given>(
    source: RequestSource<Given>,
    given: Given,
    { rules, observation }: Decision,
  ): Promise<Blocked | undefined> {
    const component = ready();
    let remembered: Remembered;
    let opened: SessionRequest | undefined;
    let outcome: SignedIn | SignedOut;
    try {
      if (component.hosts !== undefined) await component.hosts.find(source.request(given));
      remembered = source.remember(given, rules);
      ({ opened } = remembered);
      outcome = await component.access.access(opened.session);
      if (!outcome.authenticated)
        return await signedOut({ component, opened, rules, observation }, outcome);
    } catch (error) {
      if (!isOutage(error)) throw error;
      observation?.note({ outcome: "unavailable" });
      const where = opened ?? { request: source.request(given), origin: undefined };
      return blockedByOutage(where, { error, provider: providersOf(rules)?.[0] }, component);
    }
    const user = new SignedInUser(component, outcome);
    observation?.note({ identity: user.identity });
    const required = requiredBy(rules);
    if (required.length > 0) {
      const unmet = await firstUnmet(required, user);
      if (unmet !== undefined)
        return refused({ component, opened, rules, observation }, user, unmet);
    }
    remembered.passedWith = user;
    return undefined;
  }

  /** As `decide`, for a rule whose provider the request tells. */
  async function decideAt(
    raw: FrameworkRequest,
    { provider, ...rule }: RouteRule<object, Record<string, unknown>, string, FrameworkRequest>,
    observation: Observation | undefined,
  ): Promise<Blocked | undefined> {
    const component = ready();
    let key: string | undefined;
    try {
      // At an unknown host, the function would decide about nobody's page.
      if (component.hosts !== undefined) {
        const request = adapter.request(raw);
        await component.hosts.find(request);
        if (isAtUnknownHost(request, component.settings))
          return await decide(ofFramework, raw, { rules: [rule], observation });
      }
      key = await keyIn(provider as ProviderOf<FrameworkRequest>, raw, component.events);
      if (key !== undefined) {
        // First: the source finds a session's provider ahead of the keys that strangers write. If
        // the read fails, the decision says so.
        const { session } = ofFramework.remember(raw, [rule]).opened;
        await session.read().catch(() => undefined);
        if ((await component.registrationAt(key)) === undefined) key = undefined;
      }
    } catch (error) {
      if (!isOutage(error)) throw error;
      observation?.note({ outcome: "unavailable" });
      const where = { request: adapter.request(raw), origin: undefined };
      return blockedByOutage(where, { error, provider: undefined }, component);
    }
    if (key === undefined) return unknownProvider(adapter.request(raw), component, observation);
    return decide(ofFramework, raw, { rules: [{ ...rule, provider: key }], observation });
  }

  function decideFor(
    raw: FrameworkRequest,
    rule: RouteRule<object, Record<string, unknown>, string, FrameworkRequest>,
    observation: Observation | undefined,
  ): Promise<Blocked | undefined> {
    return typeof rule.provider === "function"
      ? decideAt(raw, rule, observation)
      : decide(ofFramework, raw, { rules: [rule as GuardRule], observation });
  }

  return {
    /** Runs for every guarded request: no closure and no further promise if nothing watches. */
    guard(raw, rule = NO_RULE) {
      if (events.observer === undefined) return decideFor(raw, rule, undefined);
      return events.run(GUARD, (observation) =>
        noted(decideFor(raw, rule, observation), observation),
      );
    },
    guardOpened: (opened, rules) =>
      events.run(GUARD, (observation) =>
        noted(decide(ofOpened, opened, { rules, observation }), observation),
      ),
    csrf(raw) {
      const component = ready();
      const request = adapter.request(raw);
      const { hosts, router } = component;
      if (hosts === undefined || isSafe(request) || router.isEndpoint(request))
        return refusedAsForged(request, component);
      const refused = hosts.refused(request);
      return refused === undefined
        ? refusedAsForged(request, component)
        : refused.then((reply) => reply ?? refusedAsForged(request, component));
    },
  };
}

/**
 * Returns the key of the provider that a request is for. Undefined: the function names none.
 *
 * @throws ProviderUnavailableError the function throws
 */
async function keyIn<FrameworkRequest>(
  providerOf: ProviderOf<FrameworkRequest>,
  raw: FrameworkRequest,
  events: EventHub,
): Promise<string | undefined> {
  try {
    const key: unknown = await providerOf(raw);
    return typeof key === "string" ? key : undefined;
  } catch (cause) {
    events.log(functionThrew("provider", cause));
    throw new ProviderUnavailableError("provider_source", { cause });
  }
}

/** What a request gets whose rule names no provider. */
async function unknownProvider(
  request: IdpRequest,
  { events, pages }: GuardedComponent,
  observation: Observation | undefined,
): Promise<Blocked> {
  observation?.note({ outcome: "provider_unknown" });
  events.emit("blocked", { reason: "provider_unknown" });
  const failure = { code: "not_found" } as const;
  return {
    kind: "forbidden",
    reply: await failureReply(failure, request, { pages, otherwise: "json" }),
  };
}

function refusedAsForged(
  request: IdpRequest,
  { settings, pages, router, events }: GuardedComponent,
): Promise<Reply> | undefined {
  if (passesCsrf(request, () => ownOrigin(request, settings)) || router.isEndpoint(request))
    return undefined;
  events.emit("blocked", { reason: "cross_origin" });
  return failureReply({ code: "cross_origin" }, request, { pages, otherwise: "json" });
}

async function noted(
  decided: Promise<Blocked | undefined>,
  observation: Observation | undefined,
): Promise<Blocked | undefined> {
  const blocked = await decided;
  if (blocked === undefined) observation?.note(PASSED);
  return blocked;
}

/** Where the guard finds a request, and what is remembered of it. */
interface RequestSource<Given> {
  request(given: Given): IdpRequest;
  /** @throws TypeError | SessionMissingError */
  remember(given: Given, rules: readonly GuardRule[]): Remembered;
}

/** A decision of the guard. */
interface Decision {
  readonly rules: readonly GuardRule[];
  readonly observation: Observation | undefined;
}

/** A request for a guarded route. */
interface GuardedRequest extends Decision {
  readonly component: GuardedComponent;
  readonly opened: SessionRequest;
}

/** The user of one request, who passed the policy, as the requirements of a rule see one. */
class SignedInUser implements GuardedUser {
  readonly record: SessionRecord;
  readonly now: EpochSeconds;
  readonly #owner: SignedIn["owner"];
  readonly #settings: CommonSettings;

  constructor({ settings }: GuardedComponent, { record, owner, at }: SignedIn) {
    this.record = record;
    this.now = at;
    this.#owner = owner;
    this.#settings = settings;
  }

  get provider(): string | undefined {
    return this.#owner.provider;
  }

  get identity(): SignedIn["owner"]["identity"] {
    return this.#owner.identity;
  }

  get tolerance(): number {
    return this.#settings.clockTolerance;
  }

  session(): Session | null {
    const { record, now, provider } = this;
    return sessionView(record, { policy: this.#settings, now, provider });
  }
}

/** Returns the first requirement that the user doesn't meet. */
async function firstUnmet(
  required: readonly RuleRequirement[],
  user: GuardedUser,
): Promise<RuleRequirement | undefined> {
  for (const one of required) {
    try {
      if (!(await one.requirement.isMet(one.required, user))) return one;
    } catch (error) {
      throw thrownBy(one.name, error);
    }
  }
  return undefined;
}

/** What a user gets who doesn't meet a requirement. */
async function refused(
  { component, opened, rules, observation }: GuardedRequest,
  user: SignedInUser,
  { requirement }: RuleRequirement,
): Promise<Blocked> {
  const { provider, identity, record } = user;
  const [required] = providersOf(rules) ?? [];
  const stepUp = stepUpOf(rules) ?? {};
  // No login meets rules that have no provider in common, or no class that the user doesn't have.
  const isHopeless =
    (requirement.reason === "provider_required" && required === undefined) ||
    (requirement.reason === "step_up_required" && meetsStepUp(record.id_info, stepUp, user));
  const reason = isHopeless ? "forbidden" : requirement.reason;
  observation?.note({ outcome: reason });
  component.events.emit("blocked", { ...identity, reason });
  if (reason === "provider_required")
    return blockedForStepUp(opened, { provider: required }, component);
  // One login for everything that the rules require of the authentication.
  if (reason === "step_up_required")
    return blockedForStepUp(opened, { stepUp, provider }, component);
  const failure = { code: "forbidden", user: userPayload(record.id_info) } as const;
  return {
    kind: "forbidden",
    reply: await failureReply(failure, opened.request, {
      pages: component.pages,
      otherwise: "json",
    }),
  };
}

/** What a user gets who isn't signed in: a login that shows what the rule requires. */
function signedOut(
  { component, opened, rules, observation }: GuardedRequest,
  { reason, record, owner, at }: SignedOut,
): Promise<Blocked> {
  const { settings, events } = component;
  if (opened.isAtUnknownHost) {
    observation?.note({ outcome: "origin_unknown" });
    events.emit("blocked", { reason: "origin_unknown" });
    return Promise.resolve({ kind: "misdirected", reply: unknownHostReply(opened.request) });
  }
  observation?.note({ outcome: reason, identity: owner.identity });
  events.emit("blocked", { ...owner.identity, reason });
  const provider = providersOf(rules)?.[0];
  const prompt = promptAt(provider ?? settings.defaultProvider, component);
  const loops = wouldLoop(record, prompt, at);
  return blockedUser(opened, { reason, stepUp: stepUpOf(rules), provider, loops }, component);
}

/**
 * The `prompt` of the logins that the guard starts. Undefined: none, or the user first chooses a
 * provider, or this process doesn't know the provider yet.
 */
function promptAt(
  key: string | null,
  { registrations, source }: Pick<GuardedComponent, "registrations" | "source">,
): unknown {
  const remembered = key === null ? undefined : source?.remembered(key);
  const known = remembered === undefined ? registrations : [remembered];
  const [registration, ...others] = loginProviders(known, key);
  if (registration === undefined || others.length > 0) return undefined;
  const { authorizationParams, loginPrompt } = registration.settings;
  return authorizationParams["prompt"] ?? loginPrompt;
}
