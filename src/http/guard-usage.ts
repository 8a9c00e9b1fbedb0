/** Errors for wrong uses of a guard. Each error says what to write instead. */

/** The rule of a route. A key that is undefined by mistake, such as a missing setting, would open the route to every signed-in user. */
const RULE = ["allow", "maxAge", "acr"];

const FUNCTIONS = ["navigation", "unauthenticated", "unavailable", "forbidden", "stepUp", "allow"];

/**
 * Returns the error for `auth.idpRequired()` on frameworks where `idpRequired` is the guard itself.
 *
 * @param example code that guards a route with `auth.idpRequired`
 */
export function guardCalledError(example: string): TypeError {
  return new TypeError(
    "`auth.idpRequired` is the guard itself and was called without a request. " +
      `Pass it without calling it: \`${example}\`. For your own responses use \`auth.idpRequiredWith({ … })\`.`,
  );
}

/** Returns the error for `auth.csrf()` on frameworks where `csrf` is the middleware itself. @param example code that mounts it */
export function csrfCalledError(example: string): TypeError {
  return new TypeError(
    `\`auth.csrf\` is the middleware itself and was called without a request. Pass it without calling it: \`${example}\`.`,
  );
}

/**
 * Checks the handler that is passed to `auth.idpRequired(handler)` or `auth.csrf(handler)`.
 *
 * @param example code that guards a handler
 * @throws TypeError the handler is not a function
 */
export function assertHandler(handler: unknown, example: string, name: "idpRequired" | "csrf" = "idpRequired"): void {
  if (typeof handler === "function") return;
  throw new TypeError(`\`auth.${name}\` takes the protected handler, a function, and got ${kindOf(handler)}. Write \`${example}\`.`);
}

/**
 * Checks what is passed to `auth.idpRequiredWith(options)`: the rule of the route, and the application's own responses.
 *
 * @throws TypeError a value that the options cannot have, or an unknown key
 */
export function assertGuardOptions(options: unknown): void {
  if (typeof options !== "object" || options === null) throw optionsError(kindOf(options));
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) {
      if (RULE.includes(name)) throw optionsError(`nothing as \`${name}\``);
      continue;
    }
    if (name === "maxAge") assertMaxAge(value);
    else if (name === "acr") assertAcr(value);
    else if (!FUNCTIONS.includes(name)) throw optionsError(`the key \`${name}\``);
    else if (typeof value !== "function") throw optionsError(`${kindOf(value)} as \`${name}\``);
  }
}

/** The least `maxAge` in seconds. A shorter one would be over before the user comes back from the provider. */
const LEAST_MAX_AGE = 30;

function assertMaxAge(value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= LEAST_MAX_AGE) return;
  throw new TypeError(`\`maxAge\` of \`auth.idpRequiredWith\` is a whole number of seconds, at least ${String(LEAST_MAX_AGE)}.`);
}

/** One value of `acr_values`, which are separated by spaces. */
const ACR = /^[\x21-\x7e]{1,200}$/;
export const MAX_ACRS = 10;

export function isAcr(value: unknown): boolean {
  return typeof value === "string" && ACR.test(value);
}

function assertAcr(value: unknown): void {
  const list: unknown = typeof value === "string" ? [value] : value;
  if (Array.isArray(list) && list.length > 0 && list.length <= MAX_ACRS && list.every(isAcr)) return;
  throw new TypeError(`\`acr\` of \`auth.idpRequiredWith\` is a text without spaces, or a list of 1 to ${String(MAX_ACRS)} such texts.`);
}

function optionsError(got: string): TypeError {
  return new TypeError(
    "`auth.idpRequiredWith` takes an object: the rule of the route (`allow`, `maxAge`, `acr`) and your own responses (the functions " +
      "`navigation`, `unauthenticated`, `unavailable`, `forbidden` and `stepUp`), each optional. " +
      `It got ${got}. Without any of them use \`auth.idpRequired\`.`,
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
