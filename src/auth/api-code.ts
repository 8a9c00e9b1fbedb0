/**
 * The code for APIs. Most applications use none, so importing the package does not load it. The
 * start does if the option `apis` lists one.
 */
import type { Api } from "../config/api-options.js";
import { lazily } from "../work/lazily.js";

export const loadApiAccess = lazily(() => import("../access/api-access.js"));
export const loadFetchApi = lazily(() => import("../apis/fetch-api.js"));
export const loadFetchProxy = lazily(() => import("../apis/respond.js"));
/** Fails on runtimes without node:http, which never use it. */
export const loadNodeProxy = lazily(() => import("../apis/respond-over-node.js"));

/** What loads the code that these APIs need. */
export function apiCode(apis: ReadonlyMap<string, Api>): readonly (() => Promise<unknown>)[] {
  if (apis.size === 0) return [];
  const proxies = [...apis.values()].some(({ path }) => path !== undefined)
    ? [loadFetchProxy, loadNodeProxy]
    : [];
  return [loadApiAccess, loadFetchApi, ...proxies];
}
