import { ownParameters } from "../config/login-parameters.js";
import { isPassable, PASSABLE } from "../guard/login-url.js";
import { single } from "../http/request.js";
import { readChoice, type BadParameter } from "../pages/failure-reply.js";
import { isAcrList, MAX_ACRS, type StepUp } from "../record/authentication-strength.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** Where a login ends. */
export const SCHEMES = [
  "PRESERVE_ORIGIN_QP",
  "PRESERVE_ORIGIN_HP",
  "LANDING_PAGE",
  "DEFAULT",
] as const;
export type Scheme = (typeof SCHEMES)[number];

export const LOGIN_RESPONSES = ["redirect", "json"] as const;
type LoginResponse = (typeof LOGIN_RESPONSES)[number];

/** What the query of a login asks for. */
export interface LoginParameters {
  readonly scheme: Scheme;
  readonly response: LoginResponse;
  /** The parameters that the login passes on to the provider. */
  readonly passed: Readonly<Record<string, string>>;
  readonly stepUp: StepUp | undefined;
}

/**
 * Reads the query of a login.
 *
 * @param names IDP_LOGIN_PARAMS
 */
export function readLoginParameters(
  query: URLSearchParams,
  names: readonly string[],
  bad: BadParameter[],
): LoginParameters {
  const own = ownParameters(query);
  return {
    ...readForm(own, bad),
    passed: readPassed(query, names, bad),
    stepUp: readStepUp(own, bad),
  };
}

/** Reads the scheme and the form of the response. */
function readForm(
  own: URLSearchParams,
  bad: BadParameter[],
): Pick<LoginParameters, "scheme" | "response"> {
  const before = bad.length;
  // A provider or a portal that starts a login sends no scheme (OpenID Connect Core section 4).
  const standard = own.has("target_link_uri") ? "PRESERVE_ORIGIN_QP" : "DEFAULT";
  const scheme = readChoice(own, { name: "scheme", options: SCHEMES, standard }, bad);
  const response = readChoice(
    own,
    { name: "response", options: LOGIN_RESPONSES, standard: "redirect" },
    bad,
  );
  // Only a script can set a custom header, and a script cannot follow the redirect to the provider.
  if (bad.length === before && scheme === "PRESERVE_ORIGIN_HP" && response === "redirect") {
    const reason = "The scheme PRESERVE_ORIGIN_HP requires response=json";
    bad.push({ name: "response", options: ["json"], reason });
  }
  return { scheme, response };
}

/**
 * Reads the parameters that a login passes on. An empty value counts as absent (RFC 6749
 * section 3.1).
 */
function readPassed(
  query: URLSearchParams,
  names: readonly string[],
  bad: BadParameter[],
): Readonly<Record<string, string>> {
  const passed: [name: string, value: string][] = [];
  for (const name of names) {
    const { value = "", repeated } = single(query, name);
    if (repeated || !isPassable(value))
      bad.push({ name, options: [], reason: `The parameter ${name} takes ${PASSABLE}` });
    else if (value !== "") passed.push([name, value]);
  }
  // Not by assignment: the name may be `__proto__`.
  return Object.fromEntries(passed);
}

/** Digits of `max_age`: at most some thirty years in seconds. */
const MAX_AGE = /^\d{1,9}$/;

/**
 * Reads `max_age` and `acr_values` of a login, by which a guard has the user authenticate again.
 * Anyone can change them in the address: the guard checks the authentication itself, so a weaker
 * one does not pass.
 */
function readStepUp(own: URLSearchParams, bad: BadParameter[]): StepUp | undefined {
  const maxAge = single(own, "max_age");
  const acr = single(own, "acr_values");
  if (maxAge.repeated || !MAX_AGE.test(maxAge.value ?? "0")) {
    bad.push({
      name: "max_age",
      options: [],
      reason: "The parameter max_age is a whole number of seconds, and given only once",
    });
  }
  const classes = acr.value?.split(" ").filter((value) => value !== "");
  if (acr.repeated || (classes !== undefined && !isAcrList(classes))) {
    const reason = `The parameter acr_values has 1 to ${String(MAX_ACRS)} values separated by spaces, and is given only once`;
    bad.push({ name: "acr_values", options: [], reason });
  }
  if (maxAge.value === undefined && classes === undefined) return undefined;
  return withoutUndefined({
    max_age: maxAge.value === undefined ? undefined : Number(maxAge.value),
    acr: classes,
  });
}
