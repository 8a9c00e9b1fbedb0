/** What a route, a proxy or a path of an API may require, and whether a user meets it. Pure. */
import {
  isAcrList,
  MAX_ACRS,
  meetsStepUp,
  type CheckedAt,
  type StepUp,
} from "./authentication-strength.js";
import type { SessionRecord } from "./record.js";
import type { Session } from "./session-view.js";

/** What a route requires of a signed-in user, whichever provider it is for. */
interface UserRule<OwnClaims extends object, Data extends object> {
  /**
   * Only `true` lets the user pass; anything else is 403. An error goes to the framework's error
   * handling.
   */
  allow?(session: Session<OwnClaims, Data>): boolean | Promise<boolean>;
  /**
   * The most seconds since the user authenticated at the provider (`auth_time`); at least 30. An
   * older authentication is repeated.
   */
  readonly maxAge?: number;
  /**
   * The authentication context class that the route requires (`acr`), or a list of which one is
   * required.
   */
  readonly acr?: string | readonly string[];
}

/** What a guarded route requires besides a signed-in user. */
export interface GuardRule<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Provider extends string = string,
> extends UserRule<OwnClaims, Data> {
  /**
   * The key of the provider that the user must have signed in at, or a list of which one is
   * required. Others are sent to a login at the first. Only with several providers.
   */
  readonly provider?: Provider | readonly Provider[];
}

/**
 * A rule whose provider can depend on the request.
 *
 * @typeParam FrameworkRequest what the functions of `auth` take
 */
export interface RouteRule<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Provider extends string = string,
  FrameworkRequest = never,
> extends UserRule<OwnClaims, Data> {
  /**
   * As of a `GuardRule`, or a function that returns the key of the provider for a request: of the
   * customer whose page it is, for example. If there is no such provider, the response is 404. If
   * the function throws, it is 503.
   */
  readonly provider?: Provider | readonly Provider[] | ProviderOf<FrameworkRequest>;
}

/**
 * Returns the key of the provider that a request is for. Undefined, or a list as frameworks have for
 * a repeated parameter: there is none.
 */
export type ProviderOf<FrameworkRequest> = {
  /**
   * Names the provider. It's a method, so that an `auth` object extends one whose types are less
   * known.
   */
  method(request: FrameworkRequest): NamedProvider | Promise<NamedProvider>;
}["method"];

type NamedProvider = string | readonly string[] | undefined;

/** Whether a value is allowed, and which ones are. */
export type ValueCheck = readonly [is: (value: unknown) => boolean, allowed: string];

/** A signed-in user, as the requirements see one. */
export interface GuardedUser extends CheckedAt {
  readonly record: SessionRecord;
  /** The key of the provider that the user signed in at, if the application has several. */
  readonly provider: string | undefined;
  /** Returns null for a record that identifies no user. */
  session(): Session | null;
}

/**
 * Why a user is blocked, in the order in which the requirements are checked. The provider is first,
 * because the others are for its users, and no user is sent to a login who may not pass after it.
 */
const REASONS = ["provider_required", "forbidden", "step_up_required"] as const;

/** One requirement of a rule: the values that it can have, and what it does with a user. */
export interface Requirement<Value> {
  readonly value: ValueCheck;
  /** Whether the user meets it. */
  isMet(required: Value, user: GuardedUser): boolean | Promise<boolean>;
  /** Why a user is blocked who doesn't meet it. */
  readonly reason: (typeof REASONS)[number];
  /** The providers whose users may pass. The startup checks know their keys. */
  providers?(required: Value): readonly string[];
  /** What the login of a user has to show who doesn't meet it. */
  stepUp?(required: Value): StepUp;
  /** Whether the provider has to send `auth_time`. The startup checks know who doesn't. */
  readonly needsAuthTime?: true;
}

/**
 * The least `maxAge` in seconds. A shorter one would be over before the user comes back from the
 * provider.
 */
const LEAST_MAX_AGE_SECONDS = 30;

/** Whether the keys are those of providers is known at the start. */
function isProviderList(value: unknown): boolean {
  const isKey = (key: unknown) => typeof key === "string" && key !== "";
  return Array.isArray(value) && value.length > 0 && value.every(isKey);
}

const listed = (value: unknown) => (typeof value === "string" ? [value] : value);
const listOf = (value: string | readonly string[]) => [value].flat();

/** A requirement on the user's authentication, which another login can meet. */
function authentication<Value>(
  value: ValueCheck,
  stepUp: (required: Value) => StepUp,
): Requirement<Value> {
  return {
    value,
    isMet: (required, user) => meetsStepUp(user.record.id_info, stepUp(required), user),
    reason: "step_up_required",
    stepUp,
  };
}

/**
 * The requirements of a rule. One that is undefined by mistake, such as a missing setting, would
 * open the route to every signed-in user.
 */
export const REQUIREMENTS: {
  readonly [Name in keyof Required<GuardRule>]: Requirement<Required<GuardRule>[Name]>;
} = {
  allow: {
    value: [(value) => typeof value === "function", "a function"],
    async isMet(allow, user) {
      const session = user.session();
      // In JavaScript a rule can return anything.
      return session !== null && ((await allow(session)) as unknown) === true;
    },
    reason: "forbidden",
  },
  maxAge: {
    ...authentication(
      [
        (value) => Number.isSafeInteger(value) && (value as number) >= LEAST_MAX_AGE_SECONDS,
        `a whole number of seconds, at least ${String(LEAST_MAX_AGE_SECONDS)}`,
      ],
      (maxAge) => ({ max_age: maxAge }),
    ),
    needsAuthTime: true,
  },
  acr: authentication(
    [
      (value) => isAcrList(listed(value)),
      `a string without spaces, or a list of 1 to ${String(MAX_ACRS)} such strings`,
    ],
    (acr) => ({ acr: listOf(acr) }),
  ),
  provider: {
    value: [(value) => isProviderList(listed(value)), "the key of a provider, or a list of keys"],
    isMet: (required, { provider }) =>
      provider !== undefined && listOf(required).includes(provider),
    reason: "provider_required",
    providers: listOf,
  },
};

type RequirementName = keyof typeof REQUIREMENTS;

export const REQUIREMENT_NAMES = Object.keys(REQUIREMENTS) as readonly RequirementName[];

/** The names in the order in which the requirements are checked. */
const IN_ORDER = REASONS.flatMap((reason) =>
  REQUIREMENT_NAMES.filter((name) => REQUIREMENTS[name].reason === reason),
);

/** The check of the values of the requirement with this name; undefined: there is none. */
export function valueCheckOf(name: string): ValueCheck | undefined {
  return Object.hasOwn(REQUIREMENTS, name)
    ? REQUIREMENTS[name as RequirementName].value
    : undefined;
}

/** One requirement of a rule. */
export interface RuleRequirement {
  readonly name: RequirementName;
  readonly requirement: Requirement<never>;
  /** What the rule requires, of the requirement's own type. */
  readonly required: never;
}

/**
 * Returns what the rules of one request require, in the order in which it is checked: as if all were
 * one rule.
 */
export function requiredBy(rules: readonly GuardRule[]): readonly RuleRequirement[] {
  // Loops, because each guarded request calls it.
  const required: RuleRequirement[] = [];
  for (const name of IN_ORDER)
    for (const rule of rules)
      if (rule[name] !== undefined)
        required.push({ name, requirement: REQUIREMENTS[name], required: rule[name] as never });
  return required;
}

/** The keys of the providers that all rules allow; undefined: all providers. */
export function providersOf(rules: readonly GuardRule[]): readonly string[] | undefined {
  const lists = requiredBy(rules).flatMap(({ requirement, required }) =>
    requirement.providers === undefined ? [] : [requirement.providers(required)],
  );
  return lists.length === 0 ? undefined : inAll(lists);
}

/**
 * What the rules require of the authentication, in one login: the shortest `maxAge`, and the classes
 * that each rule accepts. If there is none such, the classes of all rules. Undefined: nothing.
 */
export function stepUpOf(rules: readonly GuardRule[]): StepUp | undefined {
  const parts = requiredBy(rules).flatMap(
    ({ requirement, required }) => requirement.stepUp?.(required) ?? [],
  );
  if (parts.length === 0) return undefined;
  const ages = parts.flatMap(({ max_age: maxAge }) => maxAge ?? []);
  const classes = parts.flatMap(({ acr }) => (acr === undefined ? [] : [acr]));
  const common = inAll(classes);
  return {
    ...(ages.length > 0 && { max_age: Math.min(...ages) }),
    ...(classes.length > 0 && {
      acr: common.length > 0 ? common : [...new Set(classes.flat())].slice(0, MAX_ACRS),
    }),
  };
}

/** What all lists have, in the order of the first one. */
function inAll(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lists;
  return first.filter((item) => others.every((other) => other.includes(item)));
}

/** Whether the rule needs to know when the user authenticated. */
export function needsAuthTime(rule: GuardRule): boolean {
  return requiredBy([rule]).some(({ requirement }) => requirement.needsAuthTime === true);
}
