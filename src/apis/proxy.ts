/** Passes a request on to an API, and the API's response to the browser. It knows no framework. */
import { isStream, shuttingDown, type BodyStream } from "../http/reply.js";
import { Closing, LEFT } from "./abort-at-session-end.js";
import type { Exchange, ProxyReply } from "./exchange.js";
import { admittedUrl, isFromOtherSite, opensStream } from "./proxy-policy.js";
import { lengthOf } from "./request-headers.js";
import { isEventStreamType } from "./response-headers.js";
import { answered, refusal } from "./send-with-token.js";
import type { IncomingBody, Transport } from "./transport.js";

/**
 * The largest body in bytes that is kept, so that the request can be repeated with another token.
 */
const MAX_REPEATED_BYTES = 65_536;

/** Passes a request on to an API. @param body undefined: the request has none */
export async function proxyRequest<Stream extends BodyStream>(
  exchange: Exchange,
  transport: Transport<Stream>,
  body: IncomingBody<Stream> | undefined,
): Promise<ProxyReply<Stream>> {
  const { request, lines } = exchange;
  if (exchange.shutdown.isClosing && opensStream(request)) return shuttingDown();
  const url = admittedUrl(exchange, isFromOtherSite);
  if (!(url instanceof URL)) return url;
  const length = lengthOf(lines);
  if (length === "invalid") return refusal("api_framing_invalid", exchange);
  if (body?.isUsed === true) return refusal("api_body_consumed", exchange);
  let closing: Closing | undefined;
  const isKept = body === undefined || (typeof length === "number" && length <= MAX_REPEATED_BYTES);
  let kept: Uint8Array<ArrayBuffer> | undefined;
  // Only later: a request that is refused watches no session.
  const opened = () => (closing ??= new Closing(exchange));
  async function keep(incoming: IncomingBody<Stream>): Promise<boolean> {
    const bytes = incoming.bytes().catch(throwLeft);
    const { hasArrived } = incoming;
    kept = await (hasArrived ? bytes : Promise.race([bytes, opened().aborted()]));
    return !hasArrived;
  }
  const reply = await answered(exchange, url, {
    canRepeat: isKept,
    waits: isKept && body !== undefined ? () => keep(body) : undefined,
    send(headers) {
      const broken = opened();
      return transport({
        method: request.method,
        url,
        headers,
        body: isKept ? kept : body.stream,
        length: typeof length === "number" ? length : undefined,
        onAbort(abort) {
          broken.onAbort(abort);
        },
        endsBy: request.method === "GET" ? (end) => broken.endsBy(end) : undefined,
      });
    },
  });
  if (!isStream(reply.body)) closing?.release();
  else closing?.sends(isEventStreamType(reply.headers["Content-Type"]));
  return reply;
}

function throwLeft(): never {
  throw LEFT;
}
