import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { currentBuild } from "../../scripts/demo-build.mjs";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";

/** A request to `/items` as it arrived, with what decides about cross-site requests. */
export interface Arrived {
  readonly method: string;
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly hasCookie: boolean;
  readonly body: string;
  /** 200: the guarded handler ran. 401: the guard refused. 403: auth.csrf refused. */
  readonly status: number;
}

export interface TestApplication {
  /** At 127.0.0.1. The same application is at localhost, which is another site. */
  readonly origin: string;
  /** Signs in without a page of its own, unless `askFirst` was called. */
  readonly provider: TestProvider;
  /** Other applications: one on another port of the same site, one of another site. Both show a page without a script. */
  readonly others: { readonly sameSite: string; readonly crossSite: string };
  /** The requests to `/items`. */
  readonly arrived: Arrived[];
  /** The provider shows a page with a link once, before it signs in. */
  askFirst(): void;
  stop(): Promise<void>;
}

/** Starts an application over node:http whose page `/app` uses `idpauth/client`. */
export async function startTestApplication(): Promise<TestApplication> {
  const provider = await startTestProvider();
  const auth = idpAuth({ env: provider.env, log: false, events: true });
  const script = readFileSync(path.join(await currentBuild(), "dist/client/client.js"), "utf8");
  const arrived: Arrived[] = [];

  async function items(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin, cookie } = request.headers;
    const seen = {
      method: String(request.method),
      site: request.headers["sec-fetch-site"],
      origin,
      hasCookie: cookie?.includes("idpauth=") === true,
      body: Buffer.concat(await request.toArray()).toString(),
    };
    response.on("finish", () => arrived.push({ ...seen, status: response.statusCode }));
    await decide(request, response);
  }
  // The outer function has read the body already. The guards look at headers only.
  const decide = auth.csrf(
    auth.idpRequired((_request, response) => {
      send(response, "application/json", '{"done":true}');
    }),
  );

  const { port, stop } = await listen(
    auth.listener(async (request, response) => {
      const route = request.url?.split("?", 1)[0];
      if (route === "/items") await items(request, response);
      else if (route === "/client.js") send(response, "text/javascript", script);
      else if (route === "/app") send(response, "text/html", APP);
      else if (route === "/other") send(response, "text/html", "<!doctype html><title>Other</title><h1>Another page</h1>");
      else response.writeHead(404).end();
    }),
  );
  const other = await listen((_request, response) => send(response, "text/html", "<!doctype html><title>Other</title>"));
  return {
    others: { sameSite: `http://127.0.0.1:${other.port}`, crossSite: `http://localhost:${other.port}` },
    origin: `http://127.0.0.1:${String(port)}`,
    provider,
    arrived,
    askFirst() {
      const body = '<!doctype html><title>Sign in</title><h1>Who is signing in?</h1><a href="">Ada</a>';
      provider.fault("authorize", { kind: "status", status: 200, times: 1, headers: { "Content-Type": "text/html" }, body });
    },
    async stop() {
      await stop();
      await other.stop();
      await provider.stop();
    },
  };
}

/**
 * What a single-page application does with the client. In its address, `without=locks,channel` takes these away from the page, and
 * `events` opens the event stream.
 */
const APP = `<!doctype html>
<html lang="en"><title>Application</title>
<h1>Application</h1><button id="in">Sign in</button><button id="window">Sign in in a window</button><button id="out">Sign out</button>
<script type="module">
  const without = new URLSearchParams(location.search).get("without") ?? "";
  if (without.includes("locks")) Object.defineProperty(navigator, "locks", { value: undefined });
  if (without.includes("channel")) delete window.BroadcastChannel;
  const { createClient } = await import("/client.js");
  const on = (id, action) => document.getElementById(id).addEventListener("click", action);
  window.client = createClient({ probeInterval: without === "" ? 60 : 1, events: location.search.includes("events") });
  window.shows = [];
  addEventListener("pageshow", ({ persisted }) => shows.push(persisted));
  on("in", () => client.signIn());
  on("window", () => client.signIn({ popup: true }).then((state) => { window.resolved = state.status; }));
  on("out", () => client.signOut());
</script></html>`;

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(body);
}
