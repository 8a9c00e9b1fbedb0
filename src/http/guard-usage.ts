/** Errors for a guard that is used in a way it does not work. Each says what to write instead. */

const ANSWERS = ["navigation", "unauthenticated", "unavailable"];

/**
 * The error for `auth.idpRequired()`, on frameworks where `idpRequired` is the guard itself.
 *
 * @param example how a route is guarded, with `auth.idpRequired` in it
 */
export function guardCalledError(example: string): TypeError {
  return new TypeError(
    "`auth.idpRequired` is the guard itself and was called without a request. " +
      `Pass it without calling it: \`${example}\`. For your own responses use \`auth.idpRequiredWith({ … })\`.`,
  );
}

/**
 * Checks the handler that `auth.idpRequired(handler)` is given.
 *
 * @param example how a handler is guarded
 * @throws TypeError it is no function
 */
export function assertHandler(handler: unknown, example: string): void {
  if (typeof handler === "function") return;
  throw new TypeError(`\`auth.idpRequired\` takes the protected handler, a function, and got ${kindOf(handler)}. Write \`${example}\`.`);
}

/**
 * Checks the responses that `auth.idpRequiredWith(answers)` is given.
 *
 * @throws TypeError it is no object of functions, or has another key
 */
export function assertGuardResponses(answers: unknown): void {
  if (typeof answers === "object" && answers !== null) {
    const wrong = Object.entries(answers).find(
      ([name, answer]) => !ANSWERS.includes(name) || (answer !== undefined && typeof answer !== "function"),
    );
    if (wrong === undefined) return;
    throw answersError(ANSWERS.includes(wrong[0]) ? `${kindOf(wrong[1])} as \`${wrong[0]}\`` : `the key \`${wrong[0]}\``);
  }
  throw answersError(kindOf(answers));
}

function answersError(got: string): TypeError {
  return new TypeError(
    "`auth.idpRequiredWith` takes your own responses: an object with the functions `navigation`, `unauthenticated` and " +
      `\`unavailable\`, each optional. It got ${got}. Without responses of your own use \`auth.idpRequired\`.`,
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
