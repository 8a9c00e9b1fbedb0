import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { LIBRARY_PACKAGES } from "./libraries-application.js";

// A page with the recipes of docs/how-to/http-clients.md, and an API that it requests.

const ROOT = path.resolve(import.meta.dirname, "../..");
const SNIPPETS = path.join(ROOT, "docs/snippets/http-clients");

/** A request to the API, as the server responded to it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The header `X-Idpauth`. */
  readonly mark: string | undefined;
}

export interface HttpClientsApplication {
  readonly origin: string;
  /** Its clock is the application's. It signs in without pages. */
  readonly provider: TestProvider;
  readonly requests: ApiRequest[];
  stop(): Promise<void>;
}

/** One component for each library with a cache. axios is called from outside. */
const PAGE = `
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import useSWR, { mutate, SWRConfig } from "swr";
import { api } from "${SNIPPETS}/axios.ts";
import { auth } from "${SNIPPETS}/auth.ts";
import { swrOptions } from "${SNIPPETS}/swr.ts";
import { queryClient } from "${SNIPPETS}/tanstack-query.ts";

Object.assign(self, { api, auth, queryClient, mutate });
const shown = (id, { data, error }) =>
  createElement("p", { id }, data?.for ?? error?.message ?? "nothing");
const Query = () => shown("query", useQuery({ queryKey: ["/api/query"] }));
const Swr = () => shown("swr", useSWR("/api/swr"));
createRoot(document.body).render(
  createElement(
    QueryClientProvider,
    { client: queryClient },
    createElement(
      SWRConfig,
      { value: swrOptions },
      createElement(Query),
      createElement(Swr),
    ),
  ),
);
`;

const HTML =
  '<!doctype html><html lang="en"><head><title>Items</title><link rel="icon" href="data:,"></head><body><script type="module" src="/page.js"></script></body></html>';

export async function startHttpClientsApplication(): Promise<HttpClientsApplication> {
  const script = await bundle();
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  const auth = idpAuth({ env: provider.env, clock: provider.clock, log: false });
  const requests: ApiRequest[] = [];
  const api = auth.idpRequired(async (request: IncomingMessage, response: ServerResponse) => {
    const { user } = await auth.requireSession(request);
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ for: user.name }));
  });
  const { port, stop } = await listen(
    auth.listener(async (request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      if (pathname.startsWith("/api/")) {
        response.on("finish", () =>
          requests.push({
            method: request.method ?? "",
            path: pathname,
            status: response.statusCode,
            mark: request.headers["x-idpauth"] as string | undefined,
          }),
        );
        await api(request, response);
      } else if (pathname === "/page.js")
        response.writeHead(200, { "Content-Type": "text/javascript" }).end(script);
      else response.writeHead(200, { "Content-Type": "text/html" }).end(HTML);
    }),
  );
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    provider,
    requests,
    async stop() {
      await stop();
      await auth.close();
      await provider.stop();
    },
  };
}

async function bundle(): Promise<string> {
  const packages: Plugin = {
    name: "the page and its packages",
    resolveId(source) {
      if (source === "page") return source;
      if (source === "idpauth/client") return path.join(ROOT, "src/client/client.ts");
      return /^(?:axios|swr|@tanstack)(?:\/|$)/.test(source)
        ? this.resolve(source, path.join(LIBRARY_PACKAGES, "x.js"), { skipSelf: true })
        : null;
    },
    load: (id) => (id === "page" ? PAGE : null),
  };
  const bundled = await rolldown({
    input: "page",
    platform: "browser",
    resolve: {
      extensionAlias: { ".js": [".ts", ".js"] },
      // One React for the page and for the libraries.
      alias: {
        react: packageFolder(ROOT, "react"),
        "react-dom": packageFolder(ROOT, "react-dom"),
      },
    },
    tsconfig: false,
    // "sideEffects" of package.json names files of dist/.
    treeshake: { moduleSideEffects: [{ test: /./, sideEffects: true }] },
    checks: { moduleLevelDirective: false, pluginTimings: false },
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [packages],
  });
  const { output } = await bundled.generate({ format: "esm" });
  await bundled.close();
  return output[0].code;
}
