import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

/** From a `Request` to a `Response`, as far as can be known of a stranger's function. */
export type FetchFunction = (request: Request) => unknown;

/**
 * Serves a function of the Fetch standard's style as its platform would. A result of undefined
 * becomes a 404.
 *
 * @param failed gets the function's error, which becomes a 500
 */
export function fetchListener(
  handle: FetchFunction,
  failed: (error: unknown) => void,
): RequestListener {
  return (message, response) => {
    answer(handle, message, response).catch((error: unknown) => {
      // A client that leaves early is no failure of the function.
      if ((error as NodeJS.ErrnoException | undefined)?.code !== "ERR_STREAM_PREMATURE_CLOSE")
        failed(error);
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(500, { "Content-Type": "text/plain" })
          .end("The application's function failed.");
    });
  };
}

async function answer(
  handle: FetchFunction,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answered = (await handle(requestOf(message))) ?? new Response("Not found", { status: 404 });
  if (!isResponse(answered))
    throw new TypeError(
      "The application's function didn't return a Response. If you passed a factory, call it first.",
    );
  response.statusCode = answered.status;
  for (const [name, value] of answered.headers) {
    if (name !== "set-cookie") response.setHeader(name, value);
  }
  const cookies = answered.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("Set-Cookie", cookies);
  if (answered.body === null) response.end();
  else await pipeline(Readable.fromWeb(answered.body), response);
}

function requestOf(message: IncomingMessage): Request {
  const { method = "GET", url = "/", rawHeaders, headers } = message;
  const copied = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    copied.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  // The browser of this kit says so where it plays the proxy that ends TLS; a platform would have
  // put it into the URL.
  const scheme = headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${scheme}://${headers.host ?? "localhost"}${url}`, {
    method,
    headers: copied,
    ...(hasBody && { body: Readable.toWeb(message) as globalThis.ReadableStream, duplex: "half" }),
  });
}

/**
 * The members of a Response that are read, in Node's types, because a project with DOM types has
 * different ones.
 */
interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: NodeReadableStream | null;
}

/** Checks the members, because frameworks have Response classes of their own. */
function isResponse(value: unknown): value is Answered {
  if (typeof value !== "object" || value === null) return false;
  const { status, headers } = value as Partial<Answered>;
  return typeof status === "number" && typeof headers?.getSetCookie === "function";
}
