import { expect } from "vitest";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { signIn } from "../../src/testing/sign-in/sign-in.js";
import type { TestBrowser } from "../../src/testing/sign-in/test-browser.js";
import { ORIGIN, type RunningRecipe } from "./recipe.js";

// What signed-out users try, and how to tell that nothing was served or run: protected code prints
// its mark into what it serves, and each run of it is on the list at /ran.

/** In everything that only members may see. */
export const MARK = "MEMBERS ONLY";

/** Other spellings of a path that a server, a framework or a guard may take for the same path. */
export function spellingsOf(path: string): string[] {
  const name = path.slice(1);
  const first = `%${name.charCodeAt(0).toString(16)}`;
  return [
    path,
    `/${path}`,
    `//${path}`,
    `${path}/`,
    `${path}//`,
    `/${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    path.toUpperCase(),
    `/${first}${name.slice(1)}`,
    `/%25${first.slice(1)}${name.slice(1)}`,
    `${path}%2f`,
    `/%2f${name}`,
    `/%2e${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/x/%2e%2e${path}`,
    `/x/..%2f${name}`,
    `/idpauth/..${path}`,
    `/idpauth/..%2f${name}`,
    `${path};x`,
    `${path};x=/idpauth/`,
    `${path}?x`,
    `${path}?/idpauth/session`,
    `${path}#x`,
    `${path}%00`,
    `${path}%20`,
    `${path}.`,
    `${path}.html`,
    `${path}/index.html`,
    `${path}.json`,
    `${path}/.`,
    `${path}/x/..`,
    `/\\${name}`,
    `\\${name}`,
    `/%5c${name}`,
    `http://other.example${path}`,
    `${ORIGIN}${path}`,
    `http://other.example/${path}`,
  ];
}

const METHODS = ["GET", "HEAD", "POST"] as const;
const OTHER_METHODS = ["PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND", "get"] as const;

/** Headers by which a proxy or a framework may be told another path or another kind of request. */
const DISGUISES = [
  { accept: "text/html", "sec-fetch-mode": "navigate" },
  { accept: "application/json" },
  {
    "x-original-url": "/",
    "x-rewrite-url": "/",
    "x-forwarded-uri": "/",
    "x-forwarded-prefix": "/idpauth",
  },
  {
    "x-http-method-override": "GET",
    "x-middleware-subrequest": "middleware:middleware:middleware",
    "x-forwarded-host": "other.example",
  },
] as const;

export interface Attack {
  readonly target: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Every spelling of these paths. */
export function attacksOn(paths: readonly string[]): Attack[] {
  return paths.flatMap((path) => [
    ...spellingsOf(path).flatMap((target) => METHODS.map((method) => ({ target, method }))),
    ...[path, `/${path}`].flatMap((target) => OTHER_METHODS.map((method) => ({ target, method }))),
    ...DISGUISES.flatMap((headers) => spellingsOf(path).map((target) => ({ target, headers }))),
  ]);
}

/**
 * Sends each request exactly as it is written. Gives those that reached what only members may.
 *
 * @param cookie none: of a signed-out user
 */
export async function breachesBy(
  recipe: RunningRecipe,
  attacks: readonly Attack[],
  cookie?: string,
): Promise<string[]> {
  const breaches: string[] = [];
  let before = await ranAt(recipe);
  const queue = [...attacks];
  while (queue.length > 0) {
    const some = queue.splice(0, 40);
    const found = await Promise.all(
      some.map(async (attack) =>
        (await answerTo(recipe, attack, cookie)).includes(MARK) ? [attack] : [],
      ),
    );
    breaches.push(...found.flat().map((attack) => `served: ${nameOf(attack)}`));
    const now = await ranAt(recipe);
    if (now.length !== before.length) {
      // Which of them it was.
      for (const attack of some) {
        const earlier = (await ranAt(recipe)).length;
        await answerTo(recipe, attack, cookie);
        const run = (await ranAt(recipe)).slice(earlier);
        if (run.length > 0) breaches.push(`ran ${run.join(", ")}: ${nameOf(attack)}`);
      }
      before = await ranAt(recipe);
    }
  }
  return breaches;
}

const nameOf = ({ method = "GET", target, headers }: Attack) =>
  `${method} ${target} ${JSON.stringify(headers ?? {})}`;

/**
 * What the same requests of a signed-in user run, each once: they would reach it, were it not for
 * the guard.
 */
export async function reachedBy(
  recipe: RunningRecipe,
  attacks: readonly Attack[],
  cookie: string,
): Promise<string[]> {
  const before = (await ranAt(recipe)).length;
  for (const attack of attacks) await answerTo(recipe, attack, cookie);
  return [...new Set((await ranAt(recipe)).slice(before))].sort();
}

async function answerTo(
  { port }: RunningRecipe,
  { target, method = "GET", headers = {}, body = "" }: Attack,
  cookie?: string,
): Promise<string> {
  const all = {
    host: new URL(ORIGIN).host,
    "x-forwarded-proto": "https",
    origin: ORIGIN,
    ...(cookie !== undefined && { cookie }),
    ...(method === "GET" || method === "HEAD"
      ? {}
      : {
          "content-type": "application/x-www-form-urlencoded",
          "content-length": String(Buffer.byteLength(body)),
        }),
    ...headers,
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return (await rawRequest(port, `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`))
    .raw;
}

/** What protected code has run so far. */
export async function ranAt({ port, base }: RunningRecipe): Promise<readonly string[]> {
  const answer = await new CookieBrowser({ origin: ORIGIN, proxied: { [ORIGIN]: port } }).get(
    `${base}/ran`,
  );
  expect(answer.status).toBe(200);
  return answer.json() as string[];
}

export const signedOut = ({ port }: RunningRecipe) =>
  new CookieBrowser({ origin: ORIGIN, proxied: { [ORIGIN]: port } });

/**
 * Signs in by the real flow; the login comes back to this page. The ID token has just expired, so
 * that the first probe refreshes it.
 */
export async function signInAt(
  { port, provider, base }: RunningRecipe,
  returnTo: string,
): Promise<TestBrowser> {
  const refreshes = () => provider.requestsTo("token", { grant_type: "refresh_token" }).length;
  const before = refreshes();
  // Within the clock tolerance at sign-in.
  provider.mutateIdToken = ({ claims, grant }) => ({
    claims:
      grant === "refresh_token"
        ? claims
        : { ...claims, iat: Number(claims["iat"]) - 60, exp: Number(claims["iat"]) - 1 },
  });
  const user = await signIn(`http://127.0.0.1:${String(port)}`, undefined, {
    origin: ORIGIN,
    returnTo,
    mountPath: `${base}/idpauth/`,
  });
  expect([user.returnedTo?.href, refreshes()]).toEqual([ORIGIN + returnTo, before + 1]);
  return user;
}
