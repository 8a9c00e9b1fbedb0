// One user's browser window at the application under test.
import { newWindow } from "../browser.mjs";

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string>} headers by lower-case name
 * @property {any} body JSON where it is JSON, otherwise text
 *
 * @typedef {object} Tab
 * @property {import("playwright-core").Page} page
 * @property {(user?: string, path?: string) => Promise<void>} signIn opens the guarded path, uses the
 *   provider's pages, and waits until the browser is back at it
 * @property {(path: string, init?: RequestInit & { process?: number }) => Promise<Answer>} fetch with
 *   the window's cookies, at the first process or another; redirects aren't followed
 * @property {(path: string, count: number) => Promise<Answer[]>} fetchMany all at once, over all
 *   processes in turn; those that found no process have status 0
 * @property {() => Promise<void>} untilExpired waits until the session's ID token has expired
 * @property {() => Promise<any>} probe the session probe with details
 * @property {() => Promise<void>} close
 */

const JSON_ONLY = { accept: "application/json" };

/**
 * @param {object} options
 * @param {import("playwright-core").Browser} options.browser
 * @param {readonly string[]} options.origins
 * @param {import("../servers.mjs").RunningServer} options.server
 * @returns {Promise<Tab>}
 */
export async function openTab({ browser, origins, server }) {
  const [origin = ""] = origins;
  const context = await newWindow(browser);
  const page = await context.newPage();
  /** @type {Tab["fetch"]} */
  const fetchAs = async (path, { process = 0, ...init } = {}) => {
    const cookies = await context.cookies(origin);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const headers = { ...JSON_ONLY, cookie, .../** @type {{}} */ (init.headers) };
    const url = `${origins[process]}${path}`;
    const answer = await fetch(url, { redirect: "manual", ...init, headers });
    const text = await answer.text();
    const isJson = (answer.headers.get("content-type") ?? "").includes("json");
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const probe = async () => (await fetchAs("/idpauth/session?details=true")).body;
  return {
    page,
    fetch: fetchAs,
    probe,
    async signIn(user = "ada", path = "/guarded") {
      await page.goto(`${origin}${path}`);
      if (!page.url().startsWith(`${origin}/`)) await server.signInAtProvider(page, user);
      await page.waitForURL((url) => url.href.startsWith(`${origin}${path}`));
    },
    fetchMany: (path, count) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          fetchAs(path, { process: index % origins.length }).catch(() => ({
            status: 0,
            headers: {},
            body: "no answer",
          })),
        ),
      ),
    async untilExpired() {
      const { expires_in } = await probe();
      await seconds(Math.max(0, expires_in ?? 0) + 0.3);
    },
    close: () => context.close(),
  };
}

/** @param {number} count */
export function seconds(count) {
  return new Promise((resolve) => {
    setTimeout(resolve, count * 1000);
  });
}

/**
 * @param {() => boolean | Promise<boolean>} holds
 * @param {number} [limit] in seconds
 * @throws Error it doesn't hold in time
 */
export async function eventually(holds, limit = 20) {
  const end = performance.now() + limit * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limit} s: ${String(holds)}`);
    await seconds(0.1);
  }
}
