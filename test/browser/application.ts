import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { bundleOf } from "./client-application.js";

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
  /**
   * Other applications: one on another port of the same site, one of another site. Both show a page
   * without a script, or redirect to `?to=`.
   */
  readonly others: { readonly sameSite: string; readonly crossSite: string };
  /** The requests to `/items`. */
  readonly arrived: Arrived[];
  /** The requests to the login and its callback, with their Sec-Fetch-Site. */
  readonly logins: { readonly path: string; readonly site: string | undefined }[];
  /** The status of each response of the callback. */
  readonly callbacks: number[];
  /** The address of each page that holds an event stream now. */
  streams(): string[];
  /** The provider shows a page with a link once, before it signs in. */
  askFirst(): void;
  /** The connection breaks instead of the next response of the callback. */
  loseCallback(): void;
  /** Resolves when the next request to this path is there. It never gets a response. */
  hangOnce(path: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an application over node:http whose page `/app` uses `idpauth/client`. */
export async function startTestApplication(): Promise<TestApplication> {
  const provider = await startTestProvider();
  const auth = idpAuth({ env: provider.env, log: false, events: true });
  const script = await bundleOf("idpauth/client/browser");
  const arrived: Arrived[] = [];
  const logins: TestApplication["logins"] = [];
  const callbacks: number[] = [];

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
  const guarded = auth.idpRequired((_request, response) => {
    send(response, "text/html", "<!doctype html><title>Guarded</title><h1>Guarded</h1>");
  });
  // The outer function has read the body already. The guards look at headers only.
  const decide = auth.csrf(
    auth.idpRequired((_request, response) => {
      send(response, "application/json", '{"done":true}');
    }),
  );

  const stream = auth.idpRequired((request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": open\n\n");
    auth
      .whenEnded(request)
      .addEventListener("abort", () => response.end("event: ended\ndata:\n\n"));
  });
  const streams = new Map<ServerResponse, string>();
  const listener = auth.listener(async (request, response) => {
    const route = request.url?.split("?", 1)[0];
    if (route === "/items") await items(request, response);
    else if (route === "/api/stream") await stream(request, response);
    else if (route === "/client.js") send(response, "text/javascript", script);
    else if (route === "/own.js")
      send(response, "text/javascript", `${CLIENT_OF_OWN}${sampleOfGuide()}`);
    else if (route === "/app") send(response, "text/html", APP);
    else if (route === "/framed") send(response, "text/html", FRAMED);
    else if (route === "/own") send(response, "text/html", OWN);
    else if (route === "/other")
      send(response, "text/html", "<!doctype html><title>Other</title><h1>Another page</h1>");
    else if (route === "/guarded") await guarded(request, response);
    else response.writeHead(404).end();
  });
  let losesCallback = false;
  const hanging = new Map<string, () => void>();
  const { port, stop } = await listen((request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (path.startsWith("/idpauth/login"))
      logins.push({ path, site: request.headers["sec-fetch-site"] });
    if (path === "/idpauth/login-callback")
      response.on("finish", () => callbacks.push(response.statusCode));
    if (path === "/idpauth/login-callback" && losesCallback) {
      losesCallback = false;
      response.end = () => response.destroy();
    }
    const hangs = hanging.get(path);
    if (hangs !== undefined) {
      hanging.delete(path);
      hangs();
      return;
    }
    if (request.url === "/idpauth/events" || request.url === "/api/stream") {
      const { pathname, search } = new URL(request.headers.referer ?? "");
      streams.set(response, pathname + search);
      response.on("close", () => streams.delete(response));
    }
    listener(request, response);
  });
  const other = await listen((request, response) => {
    const to = new URL(request.url ?? "", "http://localhost").searchParams.get("to");
    if (to === null) send(response, "text/html", "<!doctype html><title>Other</title>");
    else response.writeHead(302, { Location: to, "Referrer-Policy": "no-referrer" }).end();
  });
  return {
    others: {
      sameSite: `http://127.0.0.1:${other.port}`,
      crossSite: `http://localhost:${other.port}`,
    },
    origin: `http://127.0.0.1:${String(port)}`,
    provider,
    arrived,
    logins,
    callbacks,
    streams: () => [...streams.values()],
    askFirst() {
      // Each click has an address of its own, because Chromium ignores a click on a link that it
      // follows already.
      const body =
        '<!doctype html><title>Sign in</title><h1>Who is signing in?</h1><a href="" onclick="this.href += `&${performance.now()}`">Ada</a>';
      provider.fault("authorize", {
        kind: "status",
        status: 200,
        times: 1,
        headers: { "Content-Type": "text/html" },
        body,
      });
    },
    loseCallback() {
      losesCallback = true;
    },
    hangOnce: (path) =>
      new Promise((resolve) => {
        hanging.set(path, resolve);
      }),
    async stop() {
      await stop();
      await other.stop();
      await provider.stop();
    },
  };
}

/**
 * What a single-page application does with the client. In its address, `without=locks,channel`
 * takes these away from the page, and `events` opens the event stream.
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

/** A page that tells the page around it its status, and how a sign-in in a window ended. */
const FRAMED = `<!doctype html><html lang="en"><title>Framed</title>
<button style="position:absolute;inset:0;width:100%">Sign in in a window</button>
<script type="module">
  import { createClient } from "/client.js";
  const client = createClient({ probeInterval: 1 });
  const tell = (message) => parent.postMessage(message, "*");
  client.subscribe(() => tell(client.getState().status));
  document.querySelector("button").addEventListener("click", () => client.signIn({ popup: true })
    .then(({ status }) => tell("window: " + status), ({ message }) => tell("window: " + message)));
</script></html>`;

/** A page with a stream of its own, as in the guide. */
const OWN = `<!doctype html><html lang="en"><title>Own stream</title>
<script type="importmap">{ "imports": { "idpauth/client": "/client.js", "idpauth/client/streams": "/client.js" } }</script><script type="module" src="/own.js"></script></html>`;

const CLIENT_OF_OWN =
  'import { createClient } from "idpauth/client"; window.client = createClient();';

function sampleOfGuide(): string {
  const page = readFileSync(
    path.resolve(import.meta.dirname, "../../docs/how-to/live-connections.md"),
    "utf8",
  );
  return /^### In the browser\n.*?^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(body);
}
