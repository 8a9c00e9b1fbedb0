// How many redirects a browser follows if an API demands a login that doesn't help.
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { startTestProvider, TestClock } from "../../src/testing/index.js";
import { closeAll, nodeApi } from "./parties.js";
import { optionsFor } from "../support/options-for.js";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await closeAll();
});

const ORIGIN = "http://app.example";
const NAVIGATION = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };

/** Several processes behind a load balancer that gives each one request in turn, and a browser. */
async function fleet(count: number, challenges: () => string) {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock });
  stops.push(() => provider.stop());
  const { api } = await nodeApi((_message, response) =>
    response.writeHead(401, { "WWW-Authenticate": `Bearer ${challenges()}` }).end(),
  );
  const store = memoryStore({ clock });
  const processes = Array.from({ length: count }, () => {
    const auth = idpAuth({
      ...optionsFor(provider),
      baseUrl: ORIGIN,
      apis: {
        orders: { url: api.url.href, path: "/api/orders/" },
        billing: { url: api.url.href, path: "/api/billing/" },
      },
      log: false,
      store,
      clock,
    });
    const none = () => new Response(null, { status: 404 });
    const proxy = auth.proxyApi("orders")(auth.proxyApi("billing")(none));
    return async (request: Request) => (await auth.fetch(request)) ?? proxy(request);
  });
  let [cookie, turn] = ["", 0];
  async function get(url: string, headers = NAVIGATION): Promise<Response> {
    const request = new Request(url, { headers: { cookie, ...headers } });
    const response = await processes[(turn += 1) % count]!(request);
    for (const set of response.headers.getSetCookie()) cookie = set.split(";", 1)[0]!;
    return response;
  }
  /** Follows redirects. Resolves to the number of logins, and the last response. */
  async function follow(path: string): Promise<[logins: number, response: Response]> {
    let [url, logins] = [ORIGIN + path, 0];
    for (;;) {
      const response = await get(url);
      const location = response.headers.get("location");
      if (location === null || logins > 5) return [logins, response];
      url = new URL(location, url).href;
      if (url.startsWith(ORIGIN)) continue;
      logins += 1;
      url = await provider.signInCode(url);
    }
  }
  await follow("/idpauth/login/");
  return { clock, get, follow };
}

const DEMAND = 'error="insufficient_user_authentication", acr_values="mfa"';

describe.each([1, 3, 8])("an API that demands a login, behind %i processes", (count) => {
  it("leads to one, and then to a page that offers it", async () => {
    const { clock, get, follow } = await fleet(count, () => DEMAND);
    const [logins, page] = await follow("/api/orders/items?a=b");
    expect([logins, page.status, page.headers.get("content-type")]).toEqual([
      1,
      401,
      "text/html; charset=utf-8",
    ]);
    expect(await page.text()).toContain("origin_url=");
    // A script is told as before.
    const script = await get(`${ORIGIN}/api/orders/items`, {
      "sec-fetch-site": "same-origin",
      "sec-fetch-mode": "cors",
    });
    expect(script.headers.get("content-type")).toMatch(/^application\/json/);
    clock.advance(61_000);
    expect((await get(`${ORIGIN}/api/orders/items`)).status).toBe(302);
  });

  it("leads to no more if it demands something else each time", async () => {
    let seconds = 100;
    const { follow } = await fleet(
      count,
      () => `error="insufficient_user_authentication", max_age=${String((seconds += 1))}`,
    );
    expect((await follow("/api/orders/"))[0]).toBe(1);
    // Another API gets its own.
    expect((await follow("/api/billing/"))[0]).toBe(1);
    expect((await follow("/api/orders/"))[0]).toBe(0);
  });

  it("redirects again if there was no login, such as after Back", async () => {
    const { get } = await fleet(count, () => DEMAND);
    for (let time = 0; time < 2; time += 1)
      expect((await get(`${ORIGIN}/api/orders/`)).status).toBe(302);
  });
});
