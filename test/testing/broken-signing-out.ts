import { EventEmitter } from "node:events";
import { before, patched, type BrokenApplication } from "./broken-adapters.js";

const area = "signing out";

/** Express applications with one mistake each, in what signing out needs of the framework. */
export const brokenSigningOut: readonly BrokenApplication[] = [
  {
    name: "reads every body before idpauth and keeps nothing of it",
    breaks: [area, "a posted logout token ends"],
    first(request, _response, next) {
      request.resume().on("end", next);
    },
  },
  {
    name: "calls every body a form",
    breaks: [area, "a logout token in a body that is too large"],
    ...before((request) => {
      request.headers["content-type"] = "application/x-www-form-urlencoded";
    }),
  },
  {
    name: "responds to OPTIONS for every path",
    breaks: [area, "an endpoint that takes a form"],
    first(request, response, next) {
      if (request.method === "OPTIONS") response.status(204).end();
      else next();
    },
  },
  {
    name: "forbids frames in every response",
    breaks: [area, "a front-channel logout"],
    ...before((_request, response) => {
      response.setHeader("X-Frame-Options", "SAMEORIGIN");
    }),
  },
  {
    name: "serves the paths of idpauth that it knows, and not logout-callback",
    breaks: [area, "a logout with logoutAtProvider"],
    first(request, response, next) {
      if (request.path.endsWith("/logout-callback")) response.status(404).end();
      else next();
    },
  },
  {
    name: "tells every request of a browser as one of its own origin",
    breaks: [area, "a form of the sessions page"],
    ...before((request) => {
      request.headers["sec-fetch-site"] = "same-origin";
    }),
  },
  {
    name: "has a signal that never fires",
    breaks: [area, "whenEnded fires"],
    ...patched(() => ({ whenEnded: () => new AbortController().signal })),
  },
  {
    name: "does not tell that a response is complete",
    breaks: [area, "whenEnded releases"],
    ...patched((auth) => ({
      whenEnded: (request) =>
        auth.whenEnded(
          Object.create(request, {
            res: { value: undefined },
            socket: { value: new EventEmitter() },
          }) as typeof request,
        ),
    })),
  },
];
