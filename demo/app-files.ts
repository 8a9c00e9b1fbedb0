import { readdirSync, readFileSync } from "node:fs";
import { fileAnswer, notFoundAnswer, type DemoAnswer } from "./answers.js";
import { mountPath, type Environment } from "./configuration.js";

/** Beside this module in the build: what Vite makes of the sources in demo/app/. */
const FOLDER = new URL("./app/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };

/**
 * Scripts, styles and requests of this origin, and nothing else. No script or style may stand in
 * the page itself.
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "connect-src 'self'", "style-src 'self'", "img-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

/**
 * Returns what responds to a request that no route of the demo matches: a file of the single-page
 * application, or 404. Every path below /app/ leads to the same page, because the script in it
 * shows the views.
 */
export function unmatchedAnswers(
  env: Environment,
): (method: string | undefined, path: string | undefined) => DemoAnswer {
  let files: ReadonlyMap<string, DemoAnswer> | undefined;
  return (method = "GET", path = "/") => {
    const isApp = (method === "GET" || method === "HEAD") && /^\/app(?:\/(?!api\/)|$)/.test(path);
    if (!isApp) return notFoundAnswer();
    files ??= readFiles(mountPath(env));
    return (
      files.get(path) ??
      (path.startsWith("/app/assets/") ? notFoundAnswer() : files.get("/app/")) ??
      notFoundAnswer()
    );
  };
}

/** Returns each file of the application by its path, and the page at /app/. */
function readFiles(path: string): ReadonlyMap<string, DemoAnswer> {
  const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
  const assets = readdirSync(new URL("assets/", FOLDER)).map((name) => {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    // The name has a hash of the content.
    const answer = fileAnswer(
      `${type}; charset=utf-8`,
      read(`assets/${name}`),
      "public, max-age=31536000, immutable",
    );
    return [`/app/assets/${name}`, answer] as const;
  });
  const page = fileAnswer(
    "text/html; charset=utf-8",
    withMountPath(read("index.html"), path),
    "no-cache",
  );
  const headers = {
    ...page.headers,
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
  };
  const redirect = {
    status: 308,
    headers: { Location: "/app/", "Content-Type": "text/html; charset=utf-8" },
    body: '<a href="/app/">/app/</a>',
  };
  return new Map([...assets, ["/app", redirect], ["/app/", { ...page, headers }]]);
}

/** Tells the script the mount path of idpauth. */
function withMountPath(page: string, path: string): string {
  return page.replace('data-mount-path="/idpauth/"', () => `data-mount-path="${encodeURI(path)}"`);
}
