import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import path from "node:path";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";

// An application whose pages load HTML by a library, with the code of
// docs/how-to/html-libraries.md.

export const LIBRARIES = ["Turbo 8", "htmx 2", "htmx 4", "Unpoly 3"] as const;
export type Library = (typeof LIBRARIES)[number];

/** A request for the login or the logout, as it arrived. */
export interface Arrived {
  /** `login` or `logout`. */
  readonly endpoint: string;
  readonly status: number;
}

export interface LibrariesApplication {
  readonly port: number;
  /** Signs in and out without pages. */
  readonly provider: TestProvider;
  readonly arrived: Arrived[];
  stop(): Promise<void>;
}

/** The folder that the libraries are installed for. */
export const LIBRARY_PACKAGES = path.resolve(import.meta.dirname, "../recipes/browser-libraries");
const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets/html-libraries");

/** The scripts of each page, in order. */
const SCRIPTS: Readonly<Record<Library, readonly string[]>> = {
  "Turbo 8": ["@hotwired/turbo/dist/turbo.es2017-umd.js", "turbo.js"],
  "htmx 2": ["htmx-2/dist/htmx.js", "htmx-2/dist/ext/preload.js"],
  "htmx 4": ["htmx-4/dist/htmx.js", "htmx-4/dist/ext/hx-preload.js"],
  "Unpoly 3": ["unpoly/unpoly.js", "unpoly.js"],
};

const HTMX_CONFIG = readFileSync(path.join(SNIPPETS, "htmx-config.html"), "utf8");

const LOGIN = "/idpauth/login/";
const LOGOUT = "/idpauth/logout/";

/** Links that the library follows, prefetched as soon as it can; and a guarded part of the page. */
const BODIES: Readonly<Record<Library, string>> = {
  "Turbo 8": `${links("")}
    <turbo-frame id="part"><a id="load" href="/part">Load</a></turbo-frame>
    <form id="form" method="post" action="/send"><button id="send">Send</button></form>`,
  "htmx 2": `<div hx-boost="true" hx-ext="preload">${links('preload="mouseover"')}</div>
    <button id="load" hx-get="/part" hx-target="#part">Load</button><div id="part"></div>
    <form hx-post="/send" hx-target="#part"><button id="send">Send</button></form>`,
  "htmx 4": `<div hx-boost:inherited="true">${links('hx-preload="mouseover"')}</div>
    <button id="load" hx-get="/part" hx-target="#part">Load</button><div id="part"></div>
    <button id="broken" hx-get="/broken" hx-target="#part">Load during an outage</button>
    <form hx-post="/send" hx-target="#part"><button id="send">Send</button></form>`,
  "Unpoly 3": `${links('up-follow up-target="body" up-preload')}
    <a id="load" href="/part" up-target="#part">Load</a><div id="part"></div>
    <form method="post" action="/send" up-submit up-target="#part"><button id="send">Send</button></form>`,
};

function links(attributes: string): string {
  return `<a id="in" href="${LOGIN}" ${attributes}>Sign in</a> <a id="out" href="${LOGOUT}" ${attributes}>Sign out</a> <a id="guarded" href="/guarded?a=b" ${attributes}>Guarded</a>`;
}

/** The address of the library's page, with what a login must keep. */
export function pageOf(library: Library): string {
  return `/page?library=${encodeURIComponent(library)}`;
}

export async function startLibrariesApplication(): Promise<LibrariesApplication> {
  const provider = await startTestProvider();
  const auth = idpAuth({ env: provider.env, log: false, logoutAtProvider: true });
  const arrived: Arrived[] = [];

  const guarded = auth.idpRequired(async (request, response) => {
    const { user } = await auth.requireSession(request);
    const library = new URL(request.url ?? "", "http://x").pathname.slice(1);
    html(
      response,
      `<h1>${library}</h1><turbo-frame id="part"><p id="part">Hello ${user.name ?? ""}</p></turbo-frame>`,
    );
  });
  const page = async (request: IncomingMessage, response: ServerResponse) => {
    const { searchParams } = new URL(request.url ?? "", "http://x");
    const library = searchParams.get("library") as Library | null;
    const name = (await auth.getSession(request))?.user.name ?? "nobody";
    const scripts = library === null ? [] : SCRIPTS[library];
    const tags = scripts.map((file) => `<script defer src="/scripts/${file}"></script>`).join("");
    const links = library === null ? (searchParams.get("body") ?? "") : BODIES[library];
    const body = searchParams.has("preload") ? links.replaceAll(/ preload="\w+"/g, "") : links;
    html(response, `<h1>${name}</h1>${body}`, `${HTMX_CONFIG}${tags}`);
  };
  const listener: RequestListener = auth.listener(async (request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://x");
    if (pathname === "/page") await page(request, response);
    else if (pathname.startsWith("/scripts/")) script(response, pathname.slice(9));
    else if (["/guarded", "/part", "/send"].includes(pathname)) await guarded(request, response);
    else if (pathname === "/broken") response.writeHead(503).end('{"code":"store_unavailable"}');
    else response.writeHead(404).end();
  });
  const { port, stop } = await listen((request, response) => {
    const [, endpoint] = /^\/idpauth\/(login|logout)\//.exec(request.url ?? "") ?? [];
    if (endpoint !== undefined)
      response.on("close", () => arrived.push({ endpoint, status: response.statusCode }));
    listener(request, response);
  });
  return {
    port,
    provider,
    arrived,
    async stop() {
      await stop();
      await auth.close();
      await provider.stop();
    },
  };
}

function script(response: ServerResponse, name: string): void {
  const [, library, inside = ""] = /^((?:@[^/]+\/)?[^/]+)\/(.+)$/.exec(name) ?? [];
  const file = [
    library === undefined ? "" : path.join(packageFolder(LIBRARY_PACKAGES, library), inside),
    path.join(SNIPPETS, name),
  ].find(existsSync);
  if (file === undefined) response.writeHead(404).end();
  else response.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(file));
}

function html(response: ServerResponse, body: string, head = ""): void {
  response
    .writeHead(200, { "Content-Type": "text/html; charset=utf-8" })
    .end(
      `<!doctype html><html lang="en"><head><title>Libraries</title><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>`,
    );
}
