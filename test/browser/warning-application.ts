import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { bundleOf } from "./client-application.js";

/** As strict as an application's policy can be. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";

/** The element before the form: it is the first stop of the Tab key. */
const page = (query: URLSearchParams) => `<!doctype html>
<html lang="${query.get("lang") ?? "en"}" dir="${query.get("dir") ?? "ltr"}">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Report</title>
<body>${query.get("element") ?? "<idpauth-warning></idpauth-warning>"}
<main><h1>Report</h1><label>Draft <textarea></textarea></label></main>
<script type="module" src="/page.js"></script>`;

const SCRIPT = `import { createClient } from "/idpauth.js";
self.running = new Set();
const { setTimeout: set, clearTimeout: clear } = self;
self.setTimeout = (task, ...more) => {
  const timer = set(() => (running.delete(timer), task()), ...more);
  running.add(timer);
  return timer;
};
self.clearTimeout = (timer) => (running.delete(timer), clear(timer));
self.auth = createClient();
self.warning = document.querySelector("idpauth-warning");`;

/** An application whose pages have a form, and the warning. */
export interface WarningApplication {
  readonly origin: string;
  readonly provider: TestProvider;
  /** Whether the session endpoint responds with 503. */
  isDown: boolean;
  stop(): Promise<void>;
}

/** @param limits in seconds; `provider.clock.advance` lets them pass */
export async function startWarningApplication(limits: {
  readonly sessionIdleTimeout?: number;
  readonly sessionMaxAge?: number;
}): Promise<WarningApplication> {
  const script = await bundleOf("idpauth/client/browser");
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  const auth = idpAuth({
    env: provider.env,
    clock: provider.clock,
    log: () => undefined,
    ...limits,
  });
  const handle = auth.listener((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/idpauth.js") send(response, "text/javascript", script);
    else if (pathname === "/page.js") send(response, "text/javascript", SCRIPT);
    else send(response, "text/html", page(searchParams));
  });
  const server = createServer((request, response) => {
    if (application.isDown && request.url?.startsWith("/idpauth/session") === true)
      response.writeHead(503, { "Retry-After": "3600" }).end();
    else handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const application: WarningApplication = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    provider,
    isDown: false,
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await provider.stop();
    },
  };
  return application;
}

function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader("Content-Type", `${type}; charset=utf-8`);
  response.setHeader("Content-Security-Policy", POLICY);
  response.end(body);
}
