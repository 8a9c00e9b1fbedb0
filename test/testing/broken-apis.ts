import express, { type RequestHandler } from "express";
import type { ExpressIdpAuth } from "../../src/adapters/express/express.js";
import {
  before,
  headerChanged,
  patched,
  retargeted,
  type BrokenApplication,
} from "./broken-adapters.js";

const area = "apis";

/** Replaces the middleware of the proxy. */
function proxied(wrap: (proxy: RequestHandler, auth: ExpressIdpAuth) => RequestHandler) {
  return patched((auth) => ({ proxyApi: (api, rule) => wrap(auth.proxyApi(api, rule), auth) }));
}

/**
 * Express applications with one mistake each, in what the proxy of an API needs of the framework.
 */
export const brokenApis: readonly BrokenApplication[] = [
  {
    name: "sends the session's cookie to an API under another name",
    breaks: [area, "a request reaches the API with"],
    ...before(
      (request) => void request.rawHeaders.push("Accept-Session", request.headers.cookie ?? ""),
    ),
  },
  {
    name: "decodes the path of an API once",
    breaks: [area, "a path that an API could read"],
    ...retargeted((target) => target.replaceAll("%25", "%").replace(/%2f|%5c|;/gi, "-")),
  },
  {
    name: "responds to what is no API's",
    breaks: [area, "a request for another path"],
    ...proxied(
      (proxy) => (request, response) =>
        void proxy(request, response, () => void response.status(404).end()),
    ),
  },
  {
    name: "responds to signed-out requests for an API itself",
    breaks: [area, "a signed-out request gets 401"],
    ...proxied((proxy, auth) => async (request, response, next) => {
      if (await auth.checkIdpAuthentication(request)) void proxy(request, response, next);
      else next();
    }),
  },
  {
    name: "hides from which site a request for an API comes",
    breaks: [area, "a page of another site gets 403"],
    ...before((request) => {
      delete request.headers["sec-fetch-site"];
    }),
  },
  {
    name: "forgets the rule of a proxy",
    breaks: [area, "the rule of the proxy holds"],
    ...patched((auth) => ({ proxyApi: (api) => auth.proxyApi(api) })),
  },
  {
    name: "asks an API with GET for a HEAD",
    breaks: [area, "responses to HEAD, and those"],
    ...before((request) => {
      if (request.method === "HEAD") request.method = "GET";
    }),
  },
  {
    name: "lets an API's page run on its own origin",
    breaks: [area, "an API's response sets no cookie"],
    ...headerChanged("Content-Security-Policy", () => undefined),
  },
  {
    name: "tells users that they are signed out when an API rejects the token",
    breaks: [area, "after a 401 from the API"],
    ...headerChanged("Content-Type", (response) =>
      response.statusCode === 502 ? (response.statusCode = 401) : undefined,
    ),
  },
  {
    name: "has a status of its own for an API that is down",
    breaks: [area, "an API that cannot be reached"],
    ...headerChanged("Content-Type", (response) =>
      response.statusCode === 502 ? (response.statusCode = 500) : undefined,
    ),
  },
  {
    name: "hands requests on whose body was read before the proxy",
    breaks: [area, "a body that a parser has read"],
    ...proxied((proxy) => (request, response, next) => {
      if (request.body === undefined) void proxy(request, response, next);
      else next();
    }),
  },
  {
    name: "drops the options of fetchApi",
    breaks: [area, "fetchApi sends the application's own request"],
    ...patched((auth) => ({ fetchApi: (request, api, path) => auth.fetchApi(request, api, path) })),
  },
  {
    name: "reads bodies before the proxy",
    breaks: [area, "a body streams to the API unchanged"],
    first: express.json(),
  },
  {
    name: "holds an API's events back",
    breaks: [area, "an API's events arrive at once"],
    ...before((_request, response) => {
      if (_request.path.endsWith("/stream")) response.write = () => true;
    }),
  },
  {
    name: "does not tell the proxy that the browser has left",
    breaks: [area, "when the browser leaves, the request"],
    ...before((request, response) => {
      if (!request.path.endsWith("/stream")) return;
      for (const each of [request.socket, response]) {
        const emit = each.emit.bind(each);
        each.emit = (name: string, ...rest: unknown[]) => name !== "close" && emit(name, ...rest);
      }
    }),
  },
];
