// The names of Next.js that src/ and the tests use. Next.js is installed for its own tests alone,
// in test/adapters/next-application; there tsc checks src/adapters/next/next.ts and the tests
// against the real types. These types are not published.
declare module "next/headers.js" {
  export function headers(): Promise<Pick<Headers, "get" | "has" | "entries">>;
}

declare module "next/server.js" {
  export class NextRequest extends Request {
    constructor(input: URL | string, init?: RequestInit);
    get nextUrl(): { readonly pathname: string; readonly basePath: string };
  }

  export class NextResponse<Body = unknown> extends Response {
    readonly #body: Body;
    static next(init?: { request?: { headers?: Headers } }): NextResponse;
  }

  export interface NextFetchEvent {
    waitUntil(promise: Promise<unknown>): void;
  }

  /** The function of proxy.ts. */
  export type NextProxy = (
    request: NextRequest,
    event: NextFetchEvent,
  ) =>
    | NextResponse
    | Response
    | null
    | undefined
    | Promise<NextResponse | Response | null | undefined>;
}
