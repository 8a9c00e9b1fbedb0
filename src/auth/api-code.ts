/**
 * The code for APIs. Most applications use none, so importing the package does not load it. The
 * start does if the option `apis` lists one.
 */
import type { Api } from "../config/api-options.js";
import type { ConfiguredProvider } from "../config/read-settings.js";
import { lazily } from "../work/lazily.js";

/**
 * Whether the requests to APIs go over undici. Other runtimes can load it too, but have a
 * `fetch` of their own, which streams as it should; that of Node.js keeps each body in memory if it
 * is to follow no redirect.
 */
export const isNode = isNodeProcess(globalThis);

function isNodeProcess({ process, navigator }: RuntimeGlobals): boolean {
  const { node, bun, deno } = process?.versions ?? {};
  return (
    node !== undefined &&
    bun === undefined &&
    deno === undefined &&
    navigator?.userAgent !== "Cloudflare-Workers"
  );
}

interface RuntimeGlobals {
  readonly process?: { readonly versions?: Partial<Record<string, string>> };
  readonly navigator?: { readonly userAgent?: string };
}

export const loadApiAccess = lazily(() => import("../access/api-access.js"));
export const loadFetchApi = lazily(() => import("../apis/fetch-api.js"));
/** On Node.js. */
export const loadStreamApi = lazily(() => import("../apis/fetch-api-stream.js"));
/** On Node.js. */
export const loadNodeProxy = lazily(() => import("../apis/proxy-over-node.js"));
/** On other runtimes. */
export const loadFetchProxy = lazily(() => import("../apis/proxy-over-fetch.js"));

/** If tokens are bound to keys. */
export const loadProvenRequests = lazily(() => import("../apis/proven-requests.js"));

interface NeedsCode {
  readonly apis: ReadonlyMap<string, Api>;
  readonly providers: readonly Pick<ConfiguredProvider, "settings">[];
}

/** What loads the code that these APIs, and the tokens of these providers, need. */
export function apiCode({ apis, providers }: NeedsCode): readonly (() => Promise<unknown>)[] {
  const proofs = providers.some(({ settings }) => settings.dpop) ? [loadProvenRequests] : [];
  if (apis.size === 0) return proofs;
  const proxies = [...apis.values()].some(({ path }) => path !== undefined)
    ? [isNode ? loadNodeProxy : loadFetchProxy]
    : [];
  return [...proofs, loadApiAccess, loadFetchApi, ...(isNode ? [loadStreamApi] : []), ...proxies];
}
