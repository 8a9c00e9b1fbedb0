import type { Clock } from "../../index.js";
import {
  CookieBrowser,
  type BrowserResponse,
  type BrowserRequestOptions,
} from "../browser/cookie-browser.js";
import { personHeaders, type PersonClaims } from "../provider/people.js";
import { serve, type Served, type TestedApplication } from "./serve.js";

/** Options of `browser`. */
export interface BrowserOptions {
  /**
   * The origin that browsers use, if it differs from the listening address: `https://app.example`
   * simulates a browser behind a proxy that ends TLS.
   */
  readonly origin?: string;
  /**
   * Ends cookies; default the system's. Give `provider.clock` where time is moved beyond a cookie's
   * life.
   */
  readonly clock?: Pick<Clock, "now">;
}

/**
 * An object with one of these members is refused as data, because it is a request's options: pass
 * it as JSON text.
 */
interface NoOptions {
  readonly headers?: never;
  readonly signal?: never;
  readonly maxBytes?: never;
}

/** Data to post: text, a form, or what becomes JSON. */
export type PostedData =
  | string
  | number
  | boolean
  | null
  | undefined
  | (NoOptions & Readonly<Record<string, unknown>>)
  | (NoOptions & object);

/** A browser at an application, which keeps cookies. Paths are the application's. */
export class TestBrowser extends CookieBrowser {
  /** The application's origin, as the user sees it. */
  readonly origin: string;
  /**
   * The final address of `signIn`: `returnTo`, or the application's default page. Not requested
   * yet.
   */
  returnedTo: URL | undefined = undefined;
  readonly #served: Served;

  constructor(served: Served, { origin = served.origin, clock }: BrowserOptions) {
    super({
      origin,
      ...(clock && { now: () => clock.now() }),
      ...(origin !== served.origin && { proxied: { [origin]: served.port } }),
    });
    this.origin = origin;
    this.#served = served;
  }

  /**
   * Whom a test provider signs in at later logins of this browser, such as a step-up; `signIn` sets
   * it to its person. Undefined: the provider decides.
   */
  set person(person: PersonClaims | undefined) {
    this.headersElsewhere = personHeaders(person);
  }

  /**
   * The Cookie header for the application's root, for other clients:
   * `headers: { cookie: user.cookie }`.
   */
  get cookie(): string {
    return this.cookies.header(new URL("/", this.origin)) ?? "";
  }

  /**
   * Sends a POST.
   * @param data `URLSearchParams` become a form, text stays text, other data becomes JSON
   */
  post(
    target: string | URL,
    data?: PostedData,
    options: BrowserRequestOptions = {},
  ): Promise<BrowserResponse> {
    const [type, body] =
      data === undefined
        ? []
        : data instanceof URLSearchParams
          ? ["application/x-www-form-urlencoded", data.toString()]
          : typeof data === "string"
            ? ["text/plain;charset=UTF-8", data]
            : ["application/json", JSON.stringify(data)];
    return this.get(target, {
      method: "POST",
      ...(body !== undefined && { body }),
      ...options,
      headers: { ...(type !== undefined && { "content-type": type }), ...options.headers },
    });
  }

  /**
   * Releases the application. A server that was opened for it closes with its last browser. An open
   * one keeps no process alive.
   */
  close(): Promise<void> {
    return this.#served.release();
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Returns a signed-out browser at an application.
 *
 * @throws TypeError if the application cannot be reached
 *
 * @example
 * const ada = await browser(app);
 * const { status } = await ada.get("/reports");
 */
export async function browser(
  app: TestedApplication,
  options: BrowserOptions = {},
): Promise<TestBrowser> {
  return new TestBrowser(await serve(app), checkedOrigin(options));
}

/** Returns the origin in the browser's spelling. */
export function checkedOrigin<Options extends BrowserOptions>(options: Options): Options {
  const { origin } = options;
  if (origin === undefined) return options;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new TypeError(
      "The option `origin` must be scheme, host and port, such as https://app.example.",
    );
  }
  return { ...options, origin: url.origin };
}
