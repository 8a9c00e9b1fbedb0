/** Errors for wrong uses of a guard. Each error says what to write instead. */

const RESPONSES = ["navigation", "unauthenticated", "unavailable"];

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

/**
 * Checks the handler that is passed to `auth.idpRequired(handler)`.
 *
 * @param example code that guards a handler
 * @throws TypeError the handler is not a function
 */
export function assertHandler(handler: unknown, example: string): void {
  if (typeof handler === "function") return;
  throw new TypeError(`\`auth.idpRequired\` takes the protected handler, a function, and got ${kindOf(handler)}. Write \`${example}\`.`);
}

/**
 * Checks the responses that are passed to `auth.idpRequiredWith(responses)`.
 *
 * @throws TypeError the value is not an object of functions, or it has an unknown key
 */
export function assertGuardResponses(responses: unknown): void {
  if (typeof responses === "object" && responses !== null) {
    const wrong = Object.entries(responses).find(
      ([name, response]) => !RESPONSES.includes(name) || (response !== undefined && typeof response !== "function"),
    );
    if (wrong === undefined) return;
    throw responsesError(RESPONSES.includes(wrong[0]) ? `${kindOf(wrong[1])} as \`${wrong[0]}\`` : `the key \`${wrong[0]}\``);
  }
  throw responsesError(kindOf(responses));
}

function responsesError(got: string): TypeError {
  return new TypeError(
    "`auth.idpRequiredWith` takes your own responses: an object with the functions `navigation`, `unauthenticated` and " +
      `\`unavailable\`, each optional. It got ${got}. Without responses of your own use \`auth.idpRequired\`.`,
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
