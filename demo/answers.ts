import { isOutage } from "idpauth";
import { messagePage } from "./pages.js";
import { UserinfoError } from "./userinfo.js";

/** A response of the demo, the same for every framework. */
export interface DemoAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: none. An event stream is sent as it comes. */
  readonly body: string | AsyncIterable<string>;
}

/** What a page may load in addition to the stylesheet. */
export interface PageNeeds {
  /** Of a person; its origin is allowed. */
  readonly picture?: string | null | undefined;
  /** A script file of ours, which may ask us. */
  readonly script?: boolean;
}

const PRIVATE = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

export function pageAnswer(
  status: number,
  page: string,
  { picture, script = false }: PageNeeds = {},
): DemoAnswer {
  const images = pictureOrigin(picture);
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(images === undefined ? [] : [`img-src ${images}`]),
    ...(script ? ["script-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    ...PRIVATE,
    "Content-Security-Policy": policy.join("; "),
    "Content-Type": "text/html; charset=utf-8",
  };
  return { status, headers, body: page };
}

export function jsonAnswer(status: number, body: unknown): DemoAnswer {
  return {
    status,
    headers: { ...PRIVATE, "Content-Type": "application/json; charset=utf-8" },
    body: JSON.stringify(body),
  };
}

/** An event stream. No proxy must hold its events back. */
export function streamAnswer(events: AsyncIterable<string>): DemoAnswer {
  return {
    status: 200,
    headers: { ...PRIVATE, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" },
    body: events,
  };
}

/** What is the same for everybody. */
export function fileAnswer(type: string, body: string, cacheControl: string): DemoAnswer {
  return {
    status: 200,
    headers: {
      "Content-Type": type,
      "Cache-Control": cacheControl,
      "X-Content-Type-Options": "nosniff",
    },
    body,
  };
}

export function notFoundAnswer(): DemoAnswer {
  return pageAnswer(404, messagePage("There is nothing here", "This address leads nowhere."));
}

/** Returns the error handler's response. Also writes the demo's own errors to the console. */
export function errorAnswer(error: unknown): DemoAnswer {
  if (isOutage(error)) {
    // An outage signs no user out: the same request may succeed a moment later.
    const retryAfter = "retryAfter" in error ? error.retryAfter : 1;
    const answer = jsonAnswer(error.status, { error: error.code });
    return { ...answer, headers: { ...answer.headers, "Retry-After": String(retryAfter) } };
  }
  if (error instanceof UserinfoError)
    return jsonAnswer(502, { error: "userinfo_failed", detail: error.message });
  console.error(error);
  return jsonAnswer(500, { error: "internal_error" });
}

/** Returns the one foreign origin that a page needs. The provider's value is validated. */
function pictureOrigin(picture: string | null | undefined): string | undefined {
  if (!picture || !URL.canParse(picture)) return undefined;
  const { protocol, origin } = new URL(picture);
  return protocol === "https:" || protocol === "http:" ? origin : undefined;
}
