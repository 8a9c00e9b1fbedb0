import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

// What the pages about forms, cookies and uploads say about Chromium and Node.js.

const executable = await chromiumForTests();
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function serve(listener: RequestListener, options = {}): Promise<string> {
  const server = createServer(options, listener);
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://localhost:${String((server.address() as AddressInfo).port)}`;
}

describe.skipIf(executable === undefined)("Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(executable!);
  });
  afterAll(() => browser.close());

  /** Sends the form of a page with these headers. Returns the requests that came. */
  async function sent(headers: Readonly<Record<string, string>>, element: string) {
    const requests: { url: string | undefined; origin: string | undefined }[] = [];
    const provider = await serve(({ url }, response) => {
      if (url === "/") requests.push({ url: "provider", origin: undefined });
      response.end();
    });
    const app = await serve(({ url, headers: { origin } }, response) => {
      if (url === "/") response.writeHead(200, { "Content-Type": "text/html", ...headers });
      else if (url === "/favicon.ico") response.writeHead(404);
      else {
        requests.push({ url, origin });
        response.writeHead(302, { Location: provider });
      }
      response.end(element);
    });
    const tab = await browser.newPage();
    await tab.goto(app);
    await tab.click("button, a");
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await tab.waitForTimeout(300);
    await tab.close();
    return requests;
  }

  const FORM = '<form method="post" action="/out"><button>Sign out</button></form>';
  const POLICY = { "Content-Security-Policy": "form-action 'self'" };

  it("stops a sign-out form at the redirect to the provider with `form-action 'self'`, and no link", async () => {
    expect((await sent(POLICY, FORM)).map(({ url }) => url)).toEqual(["/out"]);
    expect((await sent({}, FORM)).map(({ url }) => url)).toEqual(["/out", "provider"]);
    const link = '<a href="/out">Sign out</a>';
    expect((await sent(POLICY, link)).map(({ url }) => url)).toEqual(["/out", "provider"]);
  });

  it("sends `Origin: null` with a form of a page with `Referrer-Policy: no-referrer`", async () => {
    const [request] = await sent({ "Referrer-Policy": "no-referrer" }, FORM);
    expect(request?.origin).toBe("null");
    const [other] = await sent({ "Referrer-Policy": "same-origin" }, FORM);
    expect(other?.origin).toMatch(/^http:\/\/localhost:/);
  });

  it("sends a cookie to every port of localhost", async () => {
    const cookies: (string | undefined)[] = [];
    const first = await serve((_request, response) => {
      response.setHeader("Set-Cookie", "idpauth=first; Path=/").end();
    });
    const second = await serve(({ headers }, response) => {
      cookies.push(headers.cookie);
      response.end();
    });
    const tab = await browser.newPage();
    await tab.goto(first);
    await tab.goto(second);
    await tab.close();
    expect(cookies[0]).toBe("idpauth=first");
  });
});

it("Node.js ends a request that takes longer than `requestTimeout` to arrive with 408", async () => {
  const origin = await serve((message) => void message.resume(), {
    requestTimeout: 200,
    headersTimeout: 100,
    connectionsCheckingInterval: 50,
  });
  expect(createServer().requestTimeout).toBe(300_000);
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf");
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
});
