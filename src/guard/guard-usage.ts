/** What an application passes to its guards, and the errors for what it cannot. */
import { REQUIREMENT_NAMES, valueCheckOf } from "../record/guard-requirements.js";
import { RESPONSE_NAMES } from "./custom-responses.js";

/** How applications of a framework write their guards. */
export interface Usage {
  /**
   * `next`: a guard is middleware, which the framework calls with its continuation. `handler`: a
   * guard takes the protected handler.
   */
  readonly takes: "next" | "handler";
  /** Code that guards a route with `auth.idpRequired`. */
  readonly idpRequired: string;
  /** The same with `auth.csrf`. */
  readonly csrf: string;
}

/**
 * Checks what a guard was called with: the framework's continuation, or the protected handler.
 *
 * @throws TypeError it is not a function. The message says what to write instead
 */
export function assertUsage(name: "idpRequired" | "csrf", usage: Usage, given: unknown): void {
  if (typeof given === "function") return;
  const example = usage[name];
  if (usage.takes === "handler") {
    throw new TypeError(
      `\`auth.${name}\` takes the protected handler, which is a function, but got ${typeInWords(given)}. Write \`${example}\`.`,
    );
  }
  throw new TypeError(
    `\`auth.${name}\` is the ${name === "csrf" ? "middleware" : "guard"} itself, but was called without a request. ` +
      `Pass it without calling it: \`${example}\`.` +
      (name === "csrf" ? "" : " For your own responses, use `auth.idpRequiredWith({ … })`."),
  );
}

/** The functions that take a rule, and the application's own responses that each of them knows. */
const RESPONSES_OF = {
  idpRequiredWith: RESPONSE_NAMES,
  requireSession: ["forbidden"],
} satisfies Record<string, readonly string[]>;
type TakesRule = keyof typeof RESPONSES_OF;

/**
 * Checks that a rule has no key that is neither a requirement nor a response: its author meant to
 * require something, and the route would be open without it.
 *
 * @throws TypeError
 */
export function assertKnownKeys(rule: object, taker: TakesRule = "idpRequiredWith"): void {
  for (const name of Object.keys(rule))
    if (
      valueCheckOf(name) === undefined &&
      !RESPONSES_OF[taker].includes(name) &&
      (rule as Readonly<Record<string, unknown>>)[name] !== undefined
    )
      throw optionsError(taker, `the key \`${name}\``);
}

/**
 * Checks what is passed to `auth.idpRequiredWith(options)`: the rule of the route, and the
 * application's own responses.
 *
 * @param taker the function of `auth` that takes them
 * @throws TypeError a value that the options cannot have, or an unknown key
 */
export function assertGuardOptions(options: unknown, taker: TakesRule = "idpRequiredWith"): void {
  if (typeof options !== "object" || options === null)
    throw optionsError(taker, typeInWords(options));
  assertKnownKeys(options, taker);
  for (const [name, value] of Object.entries(options)) {
    const requirement = valueCheckOf(name);
    if (name === "provider" && typeof value === "function" && taker === "idpRequiredWith") continue;
    if (requirement !== undefined) {
      const [is, allowed] = requirement;
      if (value === undefined) throw optionsError(taker, `nothing as \`${name}\``);
      if (!is(value)) throw new TypeError(`\`${name}\` of \`auth.${taker}\` must be ${allowed}.`);
    } else if (value !== undefined && typeof value !== "function")
      throw optionsError(taker, `${typeInWords(value)} as \`${name}\``);
  }
}

function optionsError(taker: TakesRule, got: string): TypeError {
  const rule = REQUIREMENT_NAMES.map(inBackticks).join(", ");
  const responses = RESPONSES_OF[taker]
    .map(inBackticks)
    .join(", ")
    .replace(/, (?=[^,]+$)/, " and ");
  return new TypeError(
    `\`auth.${taker}\` takes an object: the rule of the route (${rule}) and your own responses ` +
      `(the functions ${responses}), each optional. It got ${got}.` +
      (taker === "requireSession" ? "" : " If you need none of them, use `auth.idpRequired`."),
  );
}

function inBackticks(name: string): string {
  return `\`${name}\``;
}

function typeInWords(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
