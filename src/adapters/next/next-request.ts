import type { IdpRequest } from "../../index.js";
import { WebRequest } from "../fetch/fetch.js";

/** The request header by which `auth.proxy` tells components the path and query of the page. */
export const TARGET_HEADER = "x-idpauth-target";

/** The object that idpauth reads a request from. `Request`: that of a route handler. */
export type Incoming = Request | RouteRequest | ComponentRequest;

/** Read-only headers, as those of next/headers. */
type ReadableHeaders = Pick<Headers, "get">;

/**
 * The request of a route handler or of the proxy. Its URL names the server as it was started (`-H`,
 * `-p`), and its scheme follows X-Forwarded-Proto from any client. So neither is used.
 */
export class RouteRequest extends WebRequest {
  readonly #basePath: string;

  /** @param basePath of next.config; only the proxy's URL contains it */
  constructor(request: Request, basePath = "") {
    super(request);
    this.#basePath = basePath;
  }

  /** Without `basePath`, which the option `pathPrefix` covers. */
  override get target(): string {
    const target = super.target;
    if (this.#basePath === "" || !target.startsWith(this.#basePath)) return target;
    const rest = target.slice(this.#basePath.length);
    return rest.startsWith("/") ? rest : `/${rest}`;
  }

  /**
   * Next.js serves plain http. If a proxy ends TLS, BASE_URL says so, or X-Forwarded-Proto with
   * `trustProxy`.
   */
  override get scheme(): "http" {
    return "http";
  }

  override get host(): string | undefined {
    return super.header("host");
  }

  /**
   * A client-side navigation first fetches the payload of a page. If the response is anything else,
   * the browser loads the address itself. So for login and logout the first fetch counts as a
   * prefetch.
   */
  override header(name: string): string | undefined {
    return (
      super.header(name) ?? (name === "next-router-prefetch" ? super.header("rsc") : undefined)
    );
  }
}

/** The request of components and server actions, which know only its headers. */
export class ComponentRequest implements IdpRequest {
  /** Components are parts of pages, even if the request was a POST of a server action. */
  readonly method = "GET";
  readonly scheme = "http";
  readonly headers: ReadableHeaders;

  constructor(headers: ReadableHeaders) {
    this.headers = headers;
  }

  /**
   * As `auth.proxy` says. Without the proxy, a user who forges the header only chooses where their
   * own login leads.
   */
  get target(): string {
    const told = this.headers.get(TARGET_HEADER);
    return told?.startsWith("/") === true ? told : "/";
  }

  /** Whether `target` is known. */
  get isPlaced(): boolean {
    return this.headers.get(TARGET_HEADER)?.startsWith("/") === true;
  }

  get host(): string | undefined {
    return this.header("host");
  }

  header(name: string): string | undefined {
    if (name === "accept") return "text/html";
    // The router of Next.js fetches them.
    if (name === "sec-fetch-mode") return "navigate";
    return this.headers.get(name) ?? undefined;
  }
}
