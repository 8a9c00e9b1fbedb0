import { BodyTooLargeError, type BrowserResponse, type BrowserRequestOptions } from "../browser/cookie-browser.js";
import { isLoopback } from "../loopback.js";
import { PERSON_HEADER } from "../provider/authorization-endpoint.js";
import { assertClaims, type PersonClaims } from "../provider/people.js";
import { SERVER_HEADER } from "../provider/running-provider.js";
import { serve, type Served, type TestedApplication } from "./serve.js";
import { codeIn, deadEnd, errorCode, placeOf, SignInError, type SignInStep } from "./sign-in-error.js";
import { checkedOrigin, TestBrowser, type BrowserOptions } from "./test-browser.js";

export interface SignInOptions extends BrowserOptions {
  /** Where the endpoints live; default `/idpauth/`. */
  readonly mountPath?: string;
  /** A path of the application to come back to; `visitor.returnedTo` tells whether it was. Default: wherever the application sends people. */
  readonly returnTo?: string;
}

/** As a click, but that errors come as JSON, whose code can be told. */
const CLICK = { accept: "application/json, */*;q=0.1", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" } as const;
const MAX_REDIRECTS = 10;

/** For the whole way through the provider, in the system's time. Shorter than the 5 seconds that vitest gives a test. */
const PROVIDER_MILLISECONDS = 4_000;
/** Of each answer of the provider's; there a redirect is expected, or an error to tell. */
const PROVIDER_BYTES = 1024 * 1024;
const FAULT_STANDS =
  "A fault stands at its authorization endpoint, or a barrier or hook: `provider.clearFaults()`. What a hook threw is in `provider.violations`.";

/**
 * Signs somebody in by the real flow over HTTP: the application's login, the provider, the application's callback. Gives the
 * browser that is signed in then. The provider has 4 seconds of the system's time for its part, and 1 MiB for each answer.
 *
 * @param person who signs in, at a test provider: claims, such as `{ email: "ada@example.com" }`; default the provider's own person
 * @throws SignInError where the way ended, and what to check
 * @throws TypeError the application is none that can be reached, or the person no object of claims
 */
export async function signIn(app: TestedApplication, person?: PersonClaims, options: SignInOptions = {}): Promise<TestBrowser> {
  if (person !== undefined) assertClaims(person);
  const checked = { ...checkedOrigin(options), mountPath: checkedMountPath(options.mountPath ?? "/idpauth/") };
  const served = await serve(app);
  try {
    const trip = new Trip(served, checked);
    await trip.callback(await trip.provider(await trip.login(), person));
    await trip.session();
    return trip.visitor;
  } catch (error) {
    await served.release();
    throw error;
  }
}

/** One sign-in, step by step. */
class Trip {
  visitor: TestBrowser;
  readonly #served: Served;
  readonly #options: SignInOptions & { readonly mountPath: string };

  constructor(served: Served, options: SignInOptions & { readonly mountPath: string }) {
    this.#served = served;
    this.#options = options;
    this.visitor = new TestBrowser(served, options);
  }

  /** Begins at the application. @returns the authorization URL */
  async login(): Promise<URL> {
    const { mountPath, returnTo, origin } = this.#options;
    const path = `${mountPath}login/`;
    const destination = () => new URL(returnTo ?? "/", this.visitor.origin).href;
    let target = new URL(path, this.visitor.origin);
    for (let round = 0; round < MAX_REDIRECTS; round += 1) {
      if (returnTo !== undefined)
        target.search = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: destination() }).toString();
      const next = await this.#redirectOf("login", target);
      if (next.searchParams.has("client_id") && next.searchParams.has("redirect_uri")) return next;
      if (next.origin !== this.visitor.origin) {
        // With BASE_URL the login belongs to that origin. It is this very application, as its visitors reach it.
        if (origin !== undefined || next.pathname !== path)
          throw new SignInError("login", `it leads to ${placeOf(next)}, which is no sign-in.`);
        this.visitor = new TestBrowser(this.#served, { ...this.#options, origin: next.origin });
      }
      target = next;
    }
    throw new SignInError("login", `${placeOf(target)} redirects without end.`);
  }

  /** The person agrees. @returns where the provider sends the browser back to */
  async provider(authorizationUrl: URL, person: PersonClaims | undefined): Promise<URL> {
    // The provider may be told to hang, and a runner's own limit would not say where. A socket is waited for, so no test's clock counts.
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort();
    }, PROVIDER_MILLISECONDS);
    try {
      return await this.#throughProvider(authorizationUrl, person, limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #throughProvider(authorizationUrl: URL, person: PersonClaims | undefined, signal: AbortSignal): Promise<URL> {
    const redirectUri = authorizationUrl.searchParams.get("redirect_uri") ?? "";
    let target = authorizationUrl;
    let headers: BrowserRequestOptions["headers"] =
      person === undefined ? {} : { [PERSON_HEADER]: encodeURIComponent(JSON.stringify(person)) };
    for (let round = 0; round < MAX_REDIRECTS; round += 1) {
      if (target.protocol !== "http:" || !isLoopback(target.hostname)) {
        throw new SignInError(
          "provider",
          `the application sends people to ${target.origin}. Give it a provider that runs here: idpAuth({ env: provider.env }) with ` +
            "startTestProvider(). Without a provider, signedInAs makes a session.",
        );
      }
      const answer = await this.#askProvider(target, { headers: { ...CLICK, ...headers }, signal, maxBytes: PROVIDER_BYTES });
      const isOurs = answer.headers["server"] === SERVER_HEADER;
      if (answer.location === undefined || !isRedirect(answer)) throw noWayOn(answer, isOurs);
      if (round === 0 && person !== undefined && !isOurs) {
        throw new SignInError("provider", `only a test provider can be told who signs in; ${target.origin} is none. Leave the person out.`);
      }
      headers = {};
      target = leadingTo("provider", answer, target);
      if (URL.canParse(redirectUri) && placeOf(target) === placeOf(new URL(redirectUri))) return target;
    }
    throw new SignInError("provider", `${target.origin} redirects without end.`);
  }

  /** The way back, which gives the session. */
  async callback(callback: URL): Promise<void> {
    if (callback.origin !== this.visitor.origin) {
      throw new SignInError(
        "callback",
        `the way back leads to ${callback.origin}, but the visitor is at ${this.visitor.origin}. Behind a proxy, set BASE_URL, or let the ` +
          "application trust it; else set the option `origin` to the former.",
      );
    }
    const returnedTo = await this.#redirectOf("callback", callback);
    const error = errorCode(returnedTo.searchParams.get("error"));
    if (error !== undefined && returnedTo.pathname.endsWith(this.#options.mountPath)) {
      throw new SignInError("callback", `the provider refused: ${error}.`, { code: error });
    }
    this.visitor.returnedTo = returnedTo;
  }

  /** Whether the session is one, with the cookie that a browser has kept. */
  async session(): Promise<void> {
    const target = new URL(`${this.#options.mountPath}session?slide=false&details=true`, this.visitor.origin);
    const answer = await this.#ask("session", target, { headers: { accept: "application/json" } });
    if (answer.status !== 200) throw deadEnd("session", answer, this.#served.failure());
    const { authenticated, reason } = probed(answer);
    if (authenticated === true) return;
    const code = errorCode(reason);
    const hint =
      this.visitor.cookie === ""
        ? "The browser has kept no cookie: one that is Secure needs https, which the option `origin` plays (https://app.example)."
        : `The application says: ${code ?? "signed out"}. Do it and the provider use one clock (\`clock: provider.clock\`)?`;
    throw new SignInError("session", `the callback has passed, and nobody is signed in. ${hint}`, { status: 200, code });
  }

  async #redirectOf(step: SignInStep, target: URL): Promise<URL> {
    const answer = await this.#ask(step, target, { headers: CLICK });
    if (answer.location === undefined || !isRedirect(answer)) throw deadEnd(step, answer, this.#served.failure());
    return leadingTo(step, answer, target);
  }

  async #askProvider(target: URL, options: BrowserRequestOptions & { readonly signal: AbortSignal }): Promise<BrowserResponse> {
    try {
      return await this.visitor.get(target, options);
    } catch (cause) {
      const found = options.signal.aborted
        ? `did not answer within ${PROVIDER_MILLISECONDS / 1000} seconds`
        : cause instanceof BodyTooLargeError
          ? `answered with more than ${PROVIDER_BYTES / 1024 / 1024} MiB`
          : (cause as NodeJS.ErrnoException).code === "ECONNRESET"
            ? "ended the connection"
            : undefined;
      if (found === undefined) throw nobodyAt("provider", target, cause);
      throw new SignInError("provider", `${placeOf(target)} ${found}. ${FAULT_STANDS}`, { cause });
    }
  }

  async #ask(step: SignInStep, target: URL, options: BrowserRequestOptions): Promise<BrowserResponse> {
    try {
      return await this.visitor.get(target, options);
    } catch (cause) {
      throw nobodyAt(step, target, cause);
    }
  }
}

function nobodyAt(step: SignInStep, target: URL, cause: unknown): SignInError {
  return new SignInError(step, `nothing answers at ${placeOf(target)}. Does it run?`, { cause });
}

/** What is thrown for an address that is none repeats the one before it, with state and code. */
function leadingTo(step: SignInStep, { location = "", status }: BrowserResponse, from: URL): URL {
  if (!URL.canParse(location, from.href)) {
    throw new SignInError(step, `${placeOf(from)} answered ${status}, and redirects to what is no address.`, { status });
  }
  return new URL(location, from);
}

function probed(answer: BrowserResponse): { authenticated?: unknown; reason?: unknown } {
  try {
    return Object(answer.json()) as { authenticated?: unknown; reason?: unknown };
  } catch {
    const { status, url } = answer;
    throw new SignInError(
      "session",
      `${placeOf(url)} answered ${status}, and not with JSON. Does something in the application answer before idpauth?`,
      { status },
    );
  }
}

function isRedirect({ status }: BrowserResponse): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** The provider answered, and not by a redirect. Its code means what the provider says, whatever the application's own of that name mean. */
function noWayOn(answer: BrowserResponse, isTestProvider: boolean): SignInError {
  const { status, url } = answer;
  const code = codeIn(answer);
  const hint = !isTestProvider
    ? "It wants to show a page, and nobody is there to read it. Use startTestProvider(), which asks nothing, or signedInAs."
    : status === 400 && code === "invalid_request"
      ? "The application is not the client that this provider knows: give it `provider.env`; or a fault or hook stands there."
      : FAULT_STANDS;
  const where = `${placeOf(url)} answered ${status}${code === undefined ? "" : `, ${code}`}.`;
  return new SignInError("provider", `${where} ${hint}`, { status, code });
}

function checkedMountPath(mountPath: string): string {
  if (!mountPath.startsWith("/")) throw new TypeError("The option `mountPath` is a path, such as /idpauth/.");
  return mountPath.endsWith("/") ? mountPath : `${mountPath}/`;
}
