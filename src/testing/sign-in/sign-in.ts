import {
  BodyTooLargeError,
  type BrowserResponse,
  type BrowserRequestOptions,
} from "../browser/cookie-browser.js";
import { isTlsOrigin } from "../certificates/tls-origins.js";
import { isLoopback } from "../loopback-hostname.js";
import { assertClaims, personHeaders, type PersonClaims } from "../provider/people.js";
import { SERVER_HEADER } from "../provider/running-provider.js";
import { serve, type Served, type TestedApplication } from "./serve.js";
import {
  codeIn,
  deadEnd,
  errorCode,
  placeOf,
  providerNotChosen,
  SignInError,
  type SignInStep,
} from "./sign-in-error.js";
import { checkedOrigin, TestBrowser, type BrowserOptions } from "./test-browser.js";

/** Options of `signIn`. */
export interface SignInOptions extends BrowserOptions {
  /** The path of the endpoints; default `/idpauth/`. */
  readonly mountPath?: string;
  /**
   * A path of the application to return to. `user.returnedTo` is the actual address. Default: the
   * application's default page.
   */
  readonly returnTo?: string;
  /**
   * With several providers, the key of the one to sign in at. Default: the application's default
   * provider; without one, `signIn` throws an error that lists the keys.
   */
  readonly provider?: string;
}

/**
 * As a click, except that errors come as JSON with a code, which no browser asks for when it
 * navigates.
 */
const CLICK = {
  accept: "application/json, */*;q=0.1",
  "sec-fetch-mode": [] as string[],
  "sec-fetch-dest": [] as string[],
};
const MAX_REDIRECTS = 10;

/**
 * The time limit for all of the provider's responses, in the system's time; shorter than vitest's 5
 * seconds for a test.
 */
const PROVIDER_LIMIT_MS = 4_000;
/** The size limit of each of the provider's responses, which are redirects or errors. */
const PROVIDER_BYTES = 1024 * 1024;
const FAULT_STANDS =
  "A fault, barrier or hook affects its authorization endpoint. Call `provider.clearFaults()`. Errors of hooks are in `provider.violations`.";

/**
 * Signs a user in with the real flow over HTTP: the application's login, the provider, the
 * application's callback. Returns the signed-in browser. The provider has 4 seconds of the system's
 * time, and 1 MiB for each response.
 *
 * @param person who signs in, at a test provider: claims, such as `{ email: "ada@example.com" }`;
 *   default the provider's own person
 * @throws SignInError with the step that failed and what to check
 * @throws TypeError if the application cannot be reached, or the person is no object of claims
 *
 * @example
 * const ada = await signIn(app, { email: "ada@example.com" });
 * const { status } = await ada.get("/reports");
 */
export async function signIn(
  app: TestedApplication,
  person?: PersonClaims,
  options: SignInOptions = {},
): Promise<TestBrowser> {
  if (person !== undefined) assertClaims(person);
  const checked = {
    ...checkedOrigin(options),
    mountPath: checkedMountPath(options.mountPath ?? "/idpauth/"),
  };
  const served = await serve(app);
  try {
    const trip = new Trip(served, checked);
    await trip.callback(await trip.provider(await trip.login(), person));
    await trip.session();
    trip.browser.person = person;
    return trip.browser;
  } catch (error) {
    await served.release();
    throw error;
  }
}

/** One sign-in, step by step. */
class Trip {
  browser: TestBrowser;
  readonly #served: Served;
  readonly #options: SignInOptions & { readonly mountPath: string };

  constructor(served: Served, options: SignInOptions & { readonly mountPath: string }) {
    this.#served = served;
    this.#options = options;
    this.browser = new TestBrowser(served, options);
  }

  /** Begins at the application. @returns the authorization URL */
  async login(): Promise<URL> {
    const { mountPath, origin } = this.#options;
    const path = `${mountPath}login/`;
    let target = new URL(path, this.browser.origin);
    for (let round = 0; round < MAX_REDIRECTS; round += 1) {
      const query = this.#loginQuery();
      if (query.size > 0) target.search = query.toString();
      const response = await this.#ask("login", target, { from: null, headers: CLICK });
      if (!isRedirect(response)) throw await this.#noLogin(response);
      const next = leadingTo("login", response, target);
      if (isAuthorization(next)) return next;
      if (next.origin !== this.browser.origin) {
        // With BASE_URL the login belongs to that origin, which is this application's public
        // address.
        if (origin !== undefined || next.pathname !== path)
          throw new SignInError("login", `it leads to ${placeOf(next)}, which is no sign-in.`);
        this.browser = new TestBrowser(this.#served, { ...this.#options, origin: next.origin });
      }
      target = next;
    }
    throw new SignInError("login", `${placeOf(target)} redirects without end.`);
  }

  #loginQuery(): URLSearchParams {
    const { returnTo, provider } = this.#options;
    return new URLSearchParams({
      ...(provider !== undefined && { provider }),
      ...(returnTo !== undefined && {
        scheme: "PRESERVE_ORIGIN_QP",
        origin_url: new URL(returnTo, this.browser.origin).href,
      }),
    });
  }

  /** Returns the error for a login that is no redirect, which can be the page to choose a provider. */
  async #noLogin(response: BrowserResponse): Promise<SignInError> {
    const target = new URL(response.url);
    target.searchParams.set("response", "json");
    const asked =
      response.status === 200 ? await this.#ask("login", target, { headers: CLICK }) : response;
    return providerNotChosen(asked) ?? deadEnd("login", response, this.#served.failure());
  }

  /** The user agrees. @returns the callback URL */
  async provider(authorizationUrl: URL, person: PersonClaims | undefined): Promise<URL> {
    // A fault can make the provider hang, and the test runner's own limit would not name the step.
    // Sockets use the system's time.
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort();
    }, PROVIDER_LIMIT_MS);
    try {
      return await this.#throughProvider(authorizationUrl, person, limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #throughProvider(
    authorizationUrl: URL,
    person: PersonClaims | undefined,
    signal: AbortSignal,
  ): Promise<URL> {
    const redirectUri = authorizationUrl.searchParams.get("redirect_uri");
    let target = authorizationUrl;
    let headers: BrowserRequestOptions["headers"] = personHeaders(person);
    for (let round = 0; round < MAX_REDIRECTS; round += 1) {
      const isHere = isLoopback(target.hostname);
      if (!isHere || (target.protocol !== "http:" && !isTlsOrigin(target.origin))) {
        throw new SignInError(
          "provider",
          `the application sends users to ${target.origin}. Give it a provider that runs here: idpAuth({ env: provider.env }) with ` +
            "startTestProvider(). To create a session without a provider, use signedInAs.",
        );
      }
      const response = await this.#askProvider(target, {
        from: null,
        headers: { ...CLICK, ...headers },
        signal,
        maxBytes: PROVIDER_BYTES,
      });
      const isOurs = response.headers["server"] === SERVER_HEADER;
      if (!isRedirect(response)) throw noWayOn(response, isOurs);
      if (round === 0 && person !== undefined && !isOurs) {
        throw new SignInError(
          "provider",
          `only a test provider accepts a person, and ${target.origin} is no test provider. Omit the argument \`person\`.`,
        );
      }
      headers = {};
      target = leadingTo("provider", response, target);
      if (this.#isCallback(target, redirectUri)) return target;
    }
    throw new SignInError("provider", `${target.origin} redirects without end.`);
  }

  /** @param redirectUri null: the application has pushed the parameters, which the URL lacks */
  #isCallback(target: URL, redirectUri: string | null): boolean {
    if (redirectUri === null)
      return target.pathname.startsWith(`${this.#options.mountPath}login-callback`);
    return URL.canParse(redirectUri) && placeOf(target) === placeOf(new URL(redirectUri));
  }

  /** Requests the callback, which creates the session. */
  async callback(callback: URL): Promise<void> {
    if (callback.origin !== this.browser.origin) {
      throw new SignInError(
        "callback",
        `the callback URL has the origin ${callback.origin}, but the user is at ${this.browser.origin}. Behind a proxy, set BASE_URL or ` +
          "make the application trust the proxy. Otherwise set the option `origin` to the origin of the callback.",
      );
    }
    const response = await this.#ask("callback", callback, { from: null, headers: CLICK });
    if (!isRedirect(response)) throw deadEnd("callback", response, this.#served.failure());
    const returnedTo = leadingTo("callback", response, callback);
    const error = errorCode(returnedTo.searchParams.get("error"));
    if (error !== undefined && returnedTo.pathname.endsWith(this.#options.mountPath)) {
      throw new SignInError("callback", `the provider refused: ${error}.`, { code: error });
    }
    this.browser.returnedTo = returnedTo;
  }

  /** Checks that the session works with the browser's cookie. */
  async session(): Promise<void> {
    const target = new URL(
      `${this.#options.mountPath}session?slide=false&details=true`,
      this.browser.origin,
    );
    const response = await this.#ask("session", target, {
      headers: { accept: "application/json" },
    });
    if (response.status !== 200) throw deadEnd("session", response, this.#served.failure());
    const { authenticated, reason } = probed(response);
    if (authenticated === true) return;
    const code = errorCode(reason);
    const hint =
      this.browser.cookie === ""
        ? "The browser stored no cookie. A Secure cookie needs https: set the option `origin`, for example to https://app.example."
        : `The application reports: ${code ?? "signed out"}. Check that the application uses the provider's clock (\`clock: provider.clock\`).`;
    throw new SignInError(
      "session",
      `the callback succeeded, but the user isn't signed in. ${hint}`,
      { status: 200, code },
    );
  }

  async #askProvider(
    target: URL,
    options: BrowserRequestOptions & { readonly signal: AbortSignal },
  ): Promise<BrowserResponse> {
    try {
      return await this.browser.get(target, options);
    } catch (cause) {
      const found = options.signal.aborted
        ? `didn't respond within ${PROVIDER_LIMIT_MS / 1000} seconds`
        : cause instanceof BodyTooLargeError
          ? `responded with more than ${PROVIDER_BYTES / 1024 / 1024} MiB`
          : (cause as NodeJS.ErrnoException).code === "ECONNRESET"
            ? "ended the connection"
            : undefined;
      if (found === undefined) throw unreachable("provider", target, cause);
      throw new SignInError("provider", `${placeOf(target)} ${found}. ${FAULT_STANDS}`, { cause });
    }
  }

  async #ask(
    step: SignInStep,
    target: URL,
    options: BrowserRequestOptions,
  ): Promise<BrowserResponse> {
    try {
      return await this.browser.get(target, options);
    } catch (cause) {
      throw unreachable(step, target, cause);
    }
  }
}

function unreachable(step: SignInStep, target: URL, cause: unknown): SignInError {
  return new SignInError(step, `no server responds at ${placeOf(target)}. Check that it runs.`, {
    cause,
  });
}

/** Returns the redirect's target. The URL parser's own error would contain state and code. */
function leadingTo(step: SignInStep, { location = "", status }: BrowserResponse, from: URL): URL {
  if (!URL.canParse(location, from.href)) {
    throw new SignInError(
      step,
      `${placeOf(from)} responded with ${status} and an invalid redirect target.`,
      { status },
    );
  }
  return new URL(location, from);
}

function probed(response: BrowserResponse): { authenticated?: unknown; reason?: unknown } {
  try {
    return Object(response.json()) as { authenticated?: unknown; reason?: unknown };
  } catch {
    const { status, url } = response;
    throw new SignInError(
      "session",
      `${placeOf(url)} responded with ${status}, but not with JSON. Check whether another part of the application responds before idpauth.`,
      { status },
    );
  }
}

/** Returns whether an address is an authorization request, which may be pushed (RFC 9126). */
function isAuthorization({ searchParams }: URL): boolean {
  return (
    searchParams.has("client_id") &&
    // A signed or pushed request has it inside.
    ["redirect_uri", "request", "request_uri"].some((name) => searchParams.has(name))
  );
}

function isRedirect({ status, location }: BrowserResponse): boolean {
  return location !== undefined && [301, 302, 303, 307, 308].includes(status);
}

/**
 * Returns the error for a provider's response that is no redirect. Its code is the provider's, not
 * one of idpauth's.
 */
function noWayOn(response: BrowserResponse, isTestProvider: boolean): SignInError {
  const { status, url } = response;
  const code = codeIn(response);
  const hint = !isTestProvider
    ? "It shows a page, which signIn can't use. Use startTestProvider(), which shows no page, or signedInAs."
    : status === 400 && code === "invalid_request"
      ? "The provider doesn't know the application's client. Give the application `provider.env`, or remove a fault or hook."
      : FAULT_STANDS;
  const where = `${placeOf(url)} responded with ${status}${code === undefined ? "" : `, ${code}`}.`;
  return new SignInError("provider", `${where} ${hint}`, { status, code });
}

function checkedMountPath(mountPath: string): string {
  if (!mountPath.startsWith("/"))
    throw new TypeError("The option `mountPath` must be a path, such as /idpauth/.");
  return mountPath.endsWith("/") ? mountPath : `${mountPath}/`;
}
