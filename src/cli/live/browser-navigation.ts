import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Clock } from "../../clock.js";
import { ProviderUnavailableError } from "../../errors.js";
import { withDeadline } from "../../provider/http-to-provider.js";

/** The head of a response. */
export interface Landing {
  readonly status: number;
  readonly location: string | null;
}

/**
 * The headers of a browser that follows a link from another site. Some providers send JSON to a
 * script instead of a redirect.
 */
const HEADERS = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-language": "en",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "cross-site",
  "sec-fetch-user": "?1",
  "upgrade-insecure-requests": "1",
  "user-agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 idpauth-check",
};

/**
 * Sends one GET as a browser's navigation does, without cookies. Does not follow redirects and does
 * not read the body.
 *
 * `fetch` cannot do this: it always sends its own `Sec-Fetch-Mode` (cors).
 *
 * @param timeout seconds
 * @throws ProviderUnavailableError `timeout` or `network`; every status is a response
 */
export async function navigate(address: URL, clock: Clock, timeout: number): Promise<Landing> {
  return withDeadline(clock, timeout, (signal) => head(address, signal));
}

function head(address: URL, signal: AbortSignal): Promise<Landing> {
  const request = address.protocol === "http:" ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const sent = request(address, { headers: HEADERS, signal });
    sent.on("response", ({ statusCode = 0, headers }) => {
      resolve({ status: statusCode, location: headers.location ?? null });
      sent.destroy();
    });
    // An error after the response is ignored, since the promise is settled.
    sent.on("error", (cause) => {
      reject(
        signal.aborted
          ? new ProviderUnavailableError("timeout")
          : new ProviderUnavailableError("network", { cause }),
      );
    });
    sent.end();
  });
}
