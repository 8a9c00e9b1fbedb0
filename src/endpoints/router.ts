import { pathOf, stylesheet, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import { STYLE } from "../pages/style.js";
import { createCallback } from "./callback.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { debug } from "./debug.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { landing } from "./landing-page.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { session } from "./session.js";

interface Route {
  readonly endpoint: (visit: SessionRequest, context: EndpointContext) => Promise<Reply>;
  /** Whether HEAD works too. It does not where GET has an effect. */
  readonly head: boolean;
}

export interface Router<FrameworkRequest> {
  /** Responds to a request for one of the endpoints, with a failure too. @returns undefined if the path is not an endpoint's */
  handle(request: IdpRequest, raw: FrameworkRequest): Promise<Reply> | undefined;
}

/** Finds the endpoint for a request. Paths are compared as sent: they are not decoded, case-folded or normalized. */
export function createRouter<FrameworkRequest>(
  context: EndpointContext,
  open: (raw: FrameworkRequest, request: IdpRequest) => SessionRequest,
): Router<FrameworkRequest> {
  const { mountPath, publicPath } = context.settings;
  const mountWithoutSlash = mountPath.slice(0, -1);
  const routes = endpoints();
  if (!context.settings.debug) for (const path of ["debug", "debug/"]) routes.delete(path);

  async function respond(path: string, request: IdpRequest, raw: FrameworkRequest): Promise<Reply> {
    const route = routes.get(path);
    if (route === undefined) return failureReply({ code: "not_found" }, request, publicPath, "json");
    const { method } = request;
    if (method !== "GET" && !(method === "HEAD" && route.head)) {
      const headers = { Allow: route.head ? "GET, HEAD" : "GET" };
      return failureReply({ code: "method_not_allowed", headers }, request, publicPath, "json");
    }
    try {
      return await route.endpoint(open(raw, request), context);
    } catch (error) {
      return outageReply(error, request, publicPath);
    }
  }

  return {
    handle(request, raw) {
      const { target } = request;
      // Most requests are for the application. Their first characters are enough to know it.
      if (target.startsWith("/") && !target.startsWith(mountWithoutSlash)) return undefined;
      const path = pathOf(target);
      if (path.startsWith(mountPath)) return respond(path.slice(mountPath.length), request, raw);
      return path === mountWithoutSlash ? respond("", request, raw) : undefined;
    },
  };
}

function endpoints(): Map<string, Route> {
  const routes = new Map<string, Route>();
  const add = (path: string, route: Route) => {
    // A trailing slash makes no difference and no redirect.
    routes.set(path, route).set(`${path}/`, route);
  };
  routes.set("", { endpoint: landing, head: true });
  add("login", { endpoint: login, head: false });
  add("session", { endpoint: session, head: true });
  add("logout", { endpoint: logout, head: false });
  add("debug", { endpoint: debug, head: true });
  // Exact: the provider compares the redirect URI character by character.
  routes.set("login-callback", { endpoint: createCallback(), head: false });
  routes.set("style.css", { endpoint: () => Promise.resolve(stylesheet(STYLE)), head: true });
  return routes;
}
