/** One request of the browser, over a connection of its own. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isLoopback } from "../loopback-hostname.js";

/** The response's body exceeds `maxBytes`; the rest was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/**
 * Some servers that are told to listen on `localhost` do so on ::1 alone; whatever the system says
 * of that name is tried.
 */
export function loopbackOf(hostname: string): string {
  if (hostname === "[::1]") return "::1";
  return isLoopback(hostname) ? hostname : "127.0.0.1";
}

interface Exchange {
  /** Whether the server speaks TLS. */
  readonly tls: boolean;
  readonly hostname: string;
  readonly port: number | string;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string | string[]>;
  readonly signal: AbortSignal | undefined;
}

/** Sends a request and reads the response. */
export function exchange(
  { tls, signal, ...request }: Exchange,
  body: string | undefined,
  maxBytes = Infinity,
): Promise<{ message: IncomingMessage; text: string }> {
  return new Promise((resolve, reject) => {
    // A connection of its own for each request: nothing is left open when the test ends.
    const outgoing = (tls ? httpsRequest : httpRequest)(
      { ...request, agent: false, ...(signal && { signal }) },
      (message) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        message.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes <= maxBytes) return;
          reject(new BodyTooLargeError(`the response has more than ${String(maxBytes)} bytes`));
          outgoing.destroy();
        });
        message.on("error", reject);
        message.on("end", () => {
          resolve({ message, text: Buffer.concat(chunks).toString("utf8") });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
