import { pathOf, type IdpRequest } from "../http/request.js";
import { stylesheet, type AnyReply } from "../http/reply.js";
import { createBackchannelLogout } from "./backchannel-logout.js";
import { createCallback } from "./callback.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "../access/session-access.js";
import { debug } from "./debug.js";
import { createEvents } from "./event-stream.js";
import { failureReply, outageReply } from "../pages/failure-reply.js";
import { frontchannelLogout } from "./frontchannel-logout.js";
import { landing } from "./landing-page.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { logoutCallback } from "./logout-at-provider.js";
import { popup, popupScript } from "./popup.js";
import { session } from "./session-probe.js";
import { sessions } from "./session-list.js";

interface Route {
  readonly endpoint: (opened: SessionRequest, context: EndpointContext) => Promise<AnyReply>;
  readonly methods: readonly string[];
}

/** HEAD works where GET has no effect. */
const READ = ["GET", "HEAD"];
const GET = ["GET"];

export interface Router<FrameworkRequest> {
  /** Responds to a request for one of the endpoints, with a failure too. @returns undefined if the path is not an endpoint's */
  handle(request: IdpRequest, raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /** Whether the path is an endpoint's. */
  isEndpoint(request: IdpRequest): boolean;
}

/** Finds the endpoint for a request. Paths are compared as sent: they are not decoded, case-folded or normalized. */
export function createRouter<FrameworkRequest>(
  context: EndpointContext,
  open: (raw: FrameworkRequest, request: IdpRequest) => SessionRequest,
): Router<FrameworkRequest> {
  const { pages } = context;
  const { mountPath } = context.settings;
  const mountWithoutSlash = mountPath.slice(0, -1);
  const routes = endpoints(context);

  async function respond(path: string, request: IdpRequest, raw: FrameworkRequest): Promise<AnyReply> {
    const route = routes.get(path);
    if (route === undefined) return failureReply({ code: "not_found" }, request, pages, "json");
    const { method } = request;
    if (!route.methods.includes(method)) {
      const headers = { Allow: route.methods.join(", ") };
      return failureReply({ code: "method_not_allowed", headers }, request, pages, "json");
    }
    try {
      return await route.endpoint(open(raw, request), context);
    } catch (error) {
      return outageReply(error, request, pages);
    }
  }

  return {
    isEndpoint({ target }) {
      const path = pathOf(target);
      return path === mountWithoutSlash || (path.startsWith(mountPath) && routes.has(path.slice(mountPath.length)));
    },
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

/** The endpoints that the settings turn on. Every other path below the mount path is a 404. */
function endpoints({ settings, clock, pages }: EndpointContext): Map<string, Route> {
  const routes = new Map<string, Route>();
  const add = (path: string, endpoint: Route["endpoint"], methods: Route["methods"]) => {
    // A trailing slash makes no difference and no redirect.
    routes.set(path, { endpoint, methods }).set(`${path}/`, { endpoint, methods });
  };
  routes.set("", { endpoint: landing, methods: READ });
  add("login", login, GET);
  add("session", session, READ);
  add("logout", logout, GET);
  if (settings.debug) add("debug", debug, READ);
  if (settings.events) add("events", createEvents(), READ);
  if (settings.sessionsPage) add("sessions", sessions, ["GET", "POST"]);
  // Without a trailing slash, because the provider compares registered addresses character by character.
  routes.set("login-callback", { endpoint: createCallback(), methods: GET });
  if (settings.logoutAtProvider !== false) routes.set("logout-callback", { endpoint: logoutCallback, methods: GET });
  if (settings.backchannelLogout) routes.set("backchannel-logout", { endpoint: createBackchannelLogout(clock), methods: ["POST"] });
  if (settings.frontchannelLogout) routes.set("frontchannel-logout", { endpoint: frontchannelLogout, methods: GET });
  // Without a trailing slash: its script finds the mount path by the page's address.
  routes.set("popup", { endpoint: popup, methods: READ });
  routes.set("popup.js", { endpoint: popupScript, methods: READ });
  routes.set("style.css", { endpoint: () => Promise.resolve(stylesheet(pages.style)), methods: READ });
  return routes;
}
