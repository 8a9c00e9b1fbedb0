import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { MINIFIED, withBrowserBundle } from "../../scripts/bundle.mjs";
import { packageEntries } from "../../scripts/entries.mjs";
import { idpAuth, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { optionsFor } from "../support/options-for.js";

/** The policy that docs/reference/client.md gives to applications. */
export const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";

const PAGE =
  '<!doctype html><title>Application</title><script type="module" src="/page.js"></script>';

/** Makes the client a global variable. Its options are JSON in the query of the page. */
const SCRIPT = `import { createClient } from "/client.js";
const options = JSON.parse(new URLSearchParams(location.search).get("options") ?? "{}");
self.changes = [];
self.auth = createClient({ ...options, onUserChange: (state) => changes.push(state.user.name) });
self.states = [];
auth.subscribe(({ status }) => states.push(status));
addEventListener("pageshow", ({ persisted }) => (self.isFromCache = persisted));`;

/**
 * A service worker with a navigation fallback, as Workbox makes one: pages below no entry of the
 * denylist are the shell from the cache, and everything else comes from the network.
 */
const SERVICE_WORKER = `const denylist = [new URLSearchParams(location.search).get("deny")]
  .filter(Boolean)
  .map((source) => new RegExp(source));
self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open("shell").then((cache) => cache.add("/shell")));
});
self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
self.addEventListener("fetch", (event) => {
  const { pathname, search } = new URL(event.request.url);
  if (event.request.mode !== "navigate") event.respondWith(fetch(event.request));
  else if (!denylist.some((rule) => rule.test(pathname + search)))
    event.respondWith(caches.match("/shell"));
});`;

/** An entry of the package as a browser loads it. */
export async function bundleOf(name: "idpauth/client" | "idpauth/client/browser"): Promise<string> {
  const entry = packageEntries().find((one) => one.name === name)!;
  const { output } = await withBrowserBundle([entry], (bundle) => bundle.generate(MINIFIED));
  return output[0].code;
}

/** A single-page application with the built client: pages at any path, and one guarded route. */
export interface ClientApplication {
  readonly origin: string;
  readonly auth: NodeIdpAuth;
  readonly provider: TestProvider;
  /** The bodies that POST /api/items has taken, of signed-in users. */
  readonly items: string[];
  /** How often POST /api/items was requested. */
  readonly posts: () => number;
  stop(): Promise<void>;
}

export async function startClientApplication(
  options: IdpAuthOptions = {},
): Promise<ClientApplication> {
  const client = await bundleOf("idpauth/client");
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  const auth = idpAuth({
    ...optionsFor(provider),
    log: () => undefined,
    ...options,
  });
  const items: string[] = [];
  let posts = 0;

  const take = auth.idpRequired(async (request: IncomingMessage, response: ServerResponse) => {
    items.push(await text(request));
    send(response, "application/json", JSON.stringify({ taken: items.length }));
  });
  const scripts = new Map([
    ["/client.js", client],
    ["/page.js", SCRIPT],
    ["/service-worker.js", SERVICE_WORKER],
  ]);
  const server = createServer(
    auth.listener((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const script = scripts.get(pathname);
      if (pathname === "/api/items") {
        posts += 1;
        return take(request, response);
      }
      if (script !== undefined) send(response, "text/javascript", script);
      else if (pathname === "/favicon.ico") response.writeHead(404).end();
      else if (pathname === "/without-client")
        send(response, "text/html", "<!doctype html><title>Another page</title>");
      else send(response, "text/html", PAGE);
      return undefined;
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    auth,
    provider,
    items,
    posts: () => posts,
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await provider.stop();
    },
  };
}

function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader("Content-Type", `${type}; charset=utf-8`);
  response.setHeader("Content-Security-Policy", POLICY);
  response.end(body);
}

/** Waits until the page's client has a status. */
export async function status(tab: Page, wanted: string): Promise<void> {
  // Not waitForFunction: the policy of the page forbids its eval.
  await expect.poll(() => tab.evaluate("self.auth?.getState().status")).toBe(wanted);
}
