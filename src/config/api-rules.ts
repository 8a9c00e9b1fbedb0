/** The rules for the paths of an API: what the option `rules` may contain. */
import {
  requiredBy,
  valueCheckOf,
  type GuardRule,
  type ValueCheck,
} from "../record/guard-requirements.js";
import { kindOf, quoted } from "./describe-value.js";

/** What the proxy requires for some of an API's paths, besides its own rule. */
export interface ApiRule<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> extends GuardRule<OwnClaims, Data> {
  /**
   * The path below the API's `url`, without a leading slash and not encoded, such as
   * `items/archive`. The rule holds for it and everything below, in any letter case. Default: every
   * path.
   */
  readonly path?: string;
  /** The methods that the rule holds for. GET includes HEAD. Default: all. */
  readonly methods?: readonly string[];
}

const METHOD = /^(?!(?:CONNECT|TRACE)$)[A-Z]{1,20}$/;
/** The methods that an API, or a rule for its paths, may list. */
export const METHODS: ValueCheck = [
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= 50 &&
    value.every((method) => typeof method === "string" && METHOD.test(method)),
  "a list of methods in capital letters, without CONNECT and TRACE",
];

/** Headers that some servers take for the request's method or path. */
const OVERRIDE =
  /^x-(?:http-(?:method|path).*|method-override|(?:original|override|rewrite)-(?:ur[il]|path|method))$/;

/** Whether a rule for these methods holds for a request. An API may answer HEAD as it does GET. */
export function coversMethod(methods: readonly string[] | undefined, method: string): boolean {
  if (methods === undefined || methods.includes(method)) return true;
  return method === "HEAD" && methods.includes("GET");
}

/** Returns what is wrong with the rules of an API, whose options are otherwise right. */
export function ruleMistakes(
  rules: readonly ApiRule[],
  { path, methods, requestHeaders }: RuledApi,
): string[] {
  if (rules.length === 0) return [];
  const mistakes = rules.flatMap((rule, at) =>
    mistakesIn(rule, methods).map((mistake) => `rule ${String(at + 1)}: ${mistake}`),
  );
  if (path === undefined) mistakes.push("`rules` are for the proxy, which needs a `path`");
  const override = Object.keys(requestHeaders).find(
    (name) => OVERRIDE.test(name) && requestHeaders[name] === true,
  );
  if (override !== undefined)
    mistakes.push(
      `with \`rules\`, ${quoted(override)} can't pass, because some servers take it for the method or the path`,
    );
  return mistakes;
}

/** What the rules of an API depend on. */
interface RuledApi {
  readonly path: string | undefined;
  readonly methods: readonly string[];
  /** By name in lower case. */
  readonly requestHeaders: Readonly<Record<string, string | true>>;
}

function mistakesIn(rule: ApiRule, methods: readonly string[]): string[] {
  const mistakes = Object.entries(rule).flatMap(([name, value]: [string, unknown]) => {
    const check = Object.hasOwn(REACH, name) ? REACH[name] : valueCheckOf(name);
    if (check === undefined) return `there is no option ${quoted(name)}`;
    const [is, allowed] = check;
    return is(value) ? [] : `\`${name}\` is ${kindOf(value)}; allowed: ${allowed}`;
  });
  if (mistakes.length > 0) return mistakes;
  if (requiredBy([rule]).length === 0) return ["it requires nothing"];
  return methods.some((method) => coversMethod(rule.methods, method))
    ? []
    : ["it can't match, because the API has none of its `methods`"];
}

/** What a rule can hold for. Undefined by mistake, it would hold for more than it was meant for. */
const REACH: Readonly<Record<string, ValueCheck>> = {
  path: [
    isRulePath,
    "a path below the API's `url`, without a leading slash, not encoded, and without `;`, such as `items/archive`",
  ],
  methods: METHODS,
};

/** Whether each segment can be that of a decoded path, and is more than what servers trim. */
function isRulePath(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value
      .replace(/\/$/, "")
      .split("/")
      .every((name) => /^[^\p{C}%;?#\\]*[^\p{C}%;?#\\\s.][^\p{C}%;?#\\]*$/u.test(name))
  );
}
