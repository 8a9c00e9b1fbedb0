import { pathOf, stylesheet, type IdpRequest, type Reply } from "../http/request-reply.js";
import { STYLE } from "../pages/style.js";
import { createCallback } from "./callback.js";
import type { EndpointContext, Visit } from "./context.js";
import { debug } from "./debug.js";
import { failureReply, outageReply } from "./failure.js";
import { index } from "./index-page.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { session } from "./session.js";

interface Route {
  readonly answer: (visit: Visit, context: EndpointContext) => Promise<Reply>;
  /** Whether HEAD is answered too; where GET acts, it is not. */
  readonly head: boolean;
}

export interface Router {
  /** Undefined: the path is not ours, and the host goes on. Otherwise every answer is given here, failures too. */
  handle(request: IdpRequest, open: (request: IdpRequest) => Visit): Promise<Reply> | undefined;
}

/** Finds the endpoint for a request. Paths are compared as they were sent: nothing is decoded, folded or normalised. */
export function createRouter(context: EndpointContext): Router {
  const { mountPath, publicPath } = context.settings;
  const mountWithoutSlash = mountPath.slice(0, -1);
  const routes = endpoints();
  if (!context.settings.debug) for (const path of ["debug", "debug/"]) routes.delete(path);

  async function answer(path: string, request: IdpRequest, open: (request: IdpRequest) => Visit): Promise<Reply> {
    const route = routes.get(path);
    if (route === undefined) return failureReply({ code: "not_found" }, request, publicPath, "json");
    const { method } = request;
    if (method !== "GET" && !(method === "HEAD" && route.head)) {
      const headers = { Allow: route.head ? "GET, HEAD" : "GET" };
      return failureReply({ code: "method_not_allowed", headers }, request, publicPath, "json");
    }
    try {
      return await route.answer(open(request), context);
    } catch (error) {
      return outageReply(error, request, publicPath);
    }
  }

  return {
    handle(request, open) {
      const { target } = request;
      // Most requests of a host are not ours; they are told apart by their first characters.
      if (target.startsWith("/") && !target.startsWith(mountWithoutSlash)) return undefined;
      const path = pathOf(target);
      if (path.startsWith(mountPath)) return answer(path.slice(mountPath.length), request, open);
      return path === mountWithoutSlash ? answer("", request, open) : undefined;
    },
  };
}

function endpoints(): Map<string, Route> {
  const routes = new Map<string, Route>();
  const add = (path: string, route: Route) => {
    // With a slash at the end or without: the same endpoint, and no redirect between them.
    routes.set(path, route).set(`${path}/`, route);
  };
  routes.set("", { answer: index, head: true });
  add("login", { answer: login, head: false });
  add("session", { answer: session, head: true });
  add("logout", { answer: logout, head: false });
  add("debug", { answer: debug, head: true });
  // The redirect URI is registered at the provider letter by letter.
  routes.set("login-callback", { answer: createCallback(), head: false });
  routes.set("style.css", { answer: () => Promise.resolve(stylesheet(STYLE)), head: true });
  return routes;
}
