import type { IdpRequest } from "../../index.js";
import { WebRequest } from "../fetch/fetch.js";

/** What `auth.proxy` tells the components below it: path and query of the page asked for. */
export const TARGET_HEADER = "x-idpauth-target";

/** What the host reads a request from. `Request`: that of a route handler. */
export type Incoming = Request | RouteRequest | ComponentRequest;

/** Headers to read; those of next/headers cannot be written. */
type ReadableHeaders = Pick<Headers, "get">;

/**
 * A request as a route handler or the proxy gets it. Its URL names the server as it was started (`-H`, `-p`), not as the
 * visitor reached it, and its scheme follows X-Forwarded-Proto whoever sent that: neither is believed.
 */
export class RouteRequest extends WebRequest {
  readonly #basePath: string;

  /** @param basePath of next.config, where it is still in the URL: in the proxy alone */
  constructor(request: Request, basePath = "") {
    super(request);
    this.#basePath = basePath;
  }

  /** Without `basePath`, which is the option `pathPrefix`. */
  override get target(): string {
    const target = super.target;
    if (this.#basePath === "" || !target.startsWith(this.#basePath)) return target;
    const rest = target.slice(this.#basePath.length);
    return rest.startsWith("/") ? rest : `/${rest}`;
  }

  /** Next.js serves plain http. Whoever ends TLS before it says so by BASE_URL, or by X-Forwarded-Proto with `trustProxy`. */
  override get scheme(): "http" {
    return "http";
  }

  override get host(): string | undefined {
    return super.header("host");
  }

  /**
   * A client-side navigation fetches a page's payload first, and takes any other answer as a sign to load the address as
   * a whole. For login and logout that fetch is a guess like a prefetch: the load that follows is the click.
   */
  override header(name: string): string | undefined {
    return super.header(name) ?? (name === "next-router-prefetch" ? super.header("rsc") : undefined);
  }
}

/** The request as components and server actions know it: by its headers alone, without method and address. */
export class ComponentRequest implements IdpRequest {
  /** What is guarded here is a page, whatever way it was asked for. */
  readonly method = "GET";
  readonly scheme = "http";
  readonly headers: ReadableHeaders;

  constructor(headers: ReadableHeaders) {
    this.headers = headers;
  }

  /** As the proxy says. A visitor who forges it, where no proxy stands, chooses where their own login leads. */
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
    return name === "accept" ? "text/html" : (this.headers.get(name) ?? undefined);
  }
}
