import type { ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { before, patched, type BrokenApplication } from "./broken-adapters.js";

const area = "csrf";

/** Replaces the middleware. */
function csrf(
  replace: (csrf: ExpressIdpAuth["csrf"], auth: ExpressIdpAuth) => ExpressIdpAuth["csrf"],
) {
  return patched((auth) => ({ csrf: replace(auth.csrf, auth) }));
}

/** Express applications with one mistake each, in what `auth.csrf` needs of the framework. */
export const brokenCsrf: readonly BrokenApplication[] = [
  {
    name: "takes the first of several values of Sec-Fetch-Site",
    breaks: [area, "a POST that does not show"],
    ...before((request) => {
      const first = request.headersDistinct["sec-fetch-site"]?.[0];
      if (first !== undefined) request.headers["sec-fetch-site"] = first;
    }),
  },
  {
    name: "has a proxy that drops the header of programs",
    breaks: [area, "a POST runs its route if"],
    ...before((request) => {
      delete request.headers["x-idpauth"];
    }),
  },
  {
    name: "refuses every request of another site",
    breaks: [area, "GET and HEAD pass"],
    ...csrf((csrf) => (request, response, next) => {
      if (request.headers["sec-fetch-site"] === "cross-site") response.sendStatus(403);
      else void csrf(request, response, next);
    }),
  },
  {
    name: "refuses a form by a middleware that tells nobody",
    breaks: [area, "a refused form is a page"],
    ...csrf(() => (request, response, next) => {
      if (request.method === "POST") response.status(403).type("html").send("cross_origin");
      else next();
    }),
  },
  {
    name: "hides from idpauth what the proxy says",
    breaks: [area, "behind a trusted proxy"],
    ...before((request) => {
      delete request.headers["x-forwarded-proto"];
    }),
  },
  {
    name: "protects the endpoints as if they were routes",
    breaks: [area, "the endpoints pass"],
    ...csrf((csrf) => (request, response, next) => {
      request.originalUrl = "/items";
      void csrf(request, response, next);
    }),
  },
];
