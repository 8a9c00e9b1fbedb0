import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { rolldown } from "rolldown";
import { packageFolder } from "../../scripts/locked-packages.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Strict: the package needs no inline script and no inline style. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'";

export interface PageServer {
  /** The address of the page with this markup in its root element. */
  url(markup?: string): string;
  close(): Promise<void>;
}

/**
 * Bundles a module with React in its development build, which reports mismatches on the console.
 *
 * @param react the folder that the packages `react` and `react-dom` are installed for
 */
export async function bundle(file: string, react = ROOT): Promise<string> {
  const bundled = await rolldown({
    input: path.join(import.meta.dirname, file),
    platform: "browser",
    resolve: {
      extensionAlias: { ".js": [".ts"] },
      alias: {
        react: packageFolder(react, "react"),
        "react-dom": packageFolder(react, "react-dom"),
        scheduler: packageFolder(react, "scheduler"),
      },
    },
    tsconfig: false,
    // "sideEffects" of package.json names files of dist/.
    treeshake: { moduleSideEffects: [{ test: /./, sideEffects: true }] },
    checks: { moduleLevelDirective: false },
    transform: { define: { "process.env.NODE_ENV": '"development"' } },
  });
  const { output } = await bundled.generate({ format: "esm" });
  await bundled.close();
  return output[0].code;
}

/** Serves a page with a script. */
export async function startPageServer(script: string): Promise<PageServer> {
  const files: Record<string, readonly [type: string, body: string]> = {
    "/page.js": ["text/javascript", script],
    // An element asks for it if it is hydrated late.
    "/idpauth/session": ["application/json", `{"authenticated":false,"user":null}`],
    "/favicon.ico": ["image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`],
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://server");
    const [type, body] = files[pathname] ?? [
      "text/html; charset=utf-8",
      page(searchParams.get("markup") ?? ""),
    ];
    response.setHeader("Content-Type", type).setHeader("Content-Security-Policy", POLICY).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: (markup = "") => `${origin}/?${new URLSearchParams({ markup })}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function page(markup: string): string {
  return `<!doctype html><html lang="en"><head><title>Orders</title><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"></head>
<body><div id="root">${markup}</div><script type="module" src="/page.js"></script></body></html>`;
}
