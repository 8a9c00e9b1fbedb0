import { SESSION_FOR_TESTS, type SessionForTests } from "../../adapter.js";
import { CookieJar } from "../browser/cookie-jar.js";
import {
  ADA,
  assertClaims,
  withSubject,
  withVerifiedEmail,
  type PersonClaims,
} from "../provider/people.js";

/** The part of `idpAuth`'s result that every adapter has. */
export interface SignsInForTests<Provider extends string = string> {
  /** Stores a session and returns its `Set-Cookie` values. */
  [SESSION_FOR_TESTS](asked?: SessionForTests<Provider>): Promise<readonly string[]>;
}

/** Options of `signedInAs` and `signedInCookie`. */
export type SignedInAsOptions<Provider extends string = string> = Omit<
  SessionForTests<Provider>,
  "claims"
>;

/**
 * A cookie in the form that browser drivers take; Playwright:
 * `context.addCookies([{ ...cookie, url }])`.
 */
export interface SignedInCookie {
  /** The setting `cookieName`, or its default. */
  readonly name: string;
  /** 43 characters that identify the session. */
  readonly value: string;
  /** True, as idpauth sets it. */
  readonly httpOnly: boolean;
  /** True for https; see the option `secure`. */
  readonly secure: boolean;
  /** `Lax`, as idpauth sets it. */
  readonly sameSite: "Lax" | "Strict" | "None";
}

/**
 * Creates a session without a provider and returns the text of a Cookie header. The application
 * must use this `auth`, or one with the same store and key.
 *
 * @param claims of the ID token; what is left out is made up, `exp` is in an hour. Default Ada, the
 *   test provider's person
 * @throws TypeError with `session: "host"`, where the framework creates the sessions: use `signIn`;
 *   also for an invalid `auth`, claims or options
 * @throws ConfigurationError the settings are refused
 *
 * @example
 * await fetch(url, { headers: { cookie: await signedInAs(auth, { email: "ada@example.com" }) } });
 */
export async function signedInAs<Provider extends string>(
  auth: SignsInForTests<Provider>,
  claims?: PersonClaims,
  options?: SignedInAsOptions<NoInfer<Provider>>,
): Promise<string> {
  const { name, value } = await signedInCookie(auth, claims, options);
  return `${name}=${value}`;
}

/**
 * The same as `signedInAs`, as a cookie with its attributes.
 *
 * @example
 * const { name, value } = await signedInCookie(auth, { email: "ada@example.com" });
 */
export async function signedInCookie<Provider extends string>(
  auth: SignsInForTests<Provider>,
  claims: PersonClaims = ADA,
  options: SignedInAsOptions<NoInfer<Provider>> = {},
): Promise<SignedInCookie> {
  assertClaims(claims);
  assertOptions(options);
  // JavaScript tests may pass the application instead of its `auth`.
  if (typeof (auth as Partial<SignsInForTests> | undefined)?.[SESSION_FOR_TESTS] !== "function") {
    throw new TypeError(
      "Pass the `auth` object that `idpAuth` returned and that your application uses, not the application.",
    );
  }
  // A user has the same subject here as at a test provider.
  const lines = await auth[SESSION_FOR_TESTS]({
    ...options,
    claims: withSubject(withVerifiedEmail(claims)),
  });
  const jar = new CookieJar();
  for (const line of lines) jar.take(new URL("https://app.example/"), line);
  const cookie = jar.all().at(-1);
  if (cookie === undefined) throw new Error("idpauth didn't set a cookie");
  const { name, value, httpOnly, secure, sameSite = "Lax" } = cookie;
  return { name, value, httpOnly, secure, sameSite: sameSite as SignedInCookie["sameSite"] };
}

const OPTIONS: Readonly<Record<keyof SignedInAsOptions, true>> = {
  provider: true,
  tokens: true,
  signedInAt: true,
  secure: true,
  authTime: true,
  acr: true,
  data: true,
};
const TOKENS: Readonly<Record<keyof NonNullable<SignedInAsOptions["tokens"]>, true>> = {
  token: true,
  refresh_token: true,
};
/** In the year 5138. More are milliseconds. */
const LATEST_TIME_SECONDS = 1e11;

/**
 * JavaScript checks no types: a session that began in the year 50000 never ends, and a test of its
 * end proves nothing.
 */
function assertOptions(options: SignedInAsOptions): void {
  assertNames("signedInAs takes no option", options, OPTIONS);
  const { tokens = {}, acr } = options;
  assertNames("The option `tokens` has no", tokens, TOKENS);
  for (const name of ["signedInAt", "authTime"] as const) {
    const seconds = options[name];
    if (seconds === undefined || (Number.isInteger(seconds) && seconds <= LATEST_TIME_SECONDS))
      continue;
    throw new TypeError(
      `The option \`${name}\` must be in whole seconds since the epoch, such as Math.floor(Date.now() / 1000).`,
    );
  }
  if (acr !== undefined && typeof acr !== "string")
    throw new TypeError("The option `acr` must be a string.");
}

function assertNames(what: string, given: object, known: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new TypeError(
      `${what} ${JSON.stringify(unknown)}; there are ${Object.keys(known).join(", ")}.`,
    );
}
