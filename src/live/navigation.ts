/** The head of a response. */
export interface Landing {
  readonly status: number;
  readonly location: string | null;
}

/**
 * Sends one GET as a browser's navigation does, with {@link NAVIGATION_HEADERS} and without cookies.
 * Does not follow redirects and does not read the body.
 *
 * `fetch` cannot do this: it always sends its own `Sec-Fetch-Mode` (cors).
 *
 * @param signal ends it
 * @throws unknown there was no response; every status is one
 */
export type Navigate = (address: URL, signal: AbortSignal) => Promise<Landing>;

/**
 * The headers of a browser that follows a link from another site. Some providers send JSON to a
 * script instead of a redirect.
 */
export const NAVIGATION_HEADERS = {
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
