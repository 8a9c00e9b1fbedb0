import type { SessionRequest } from "../access/session-request.js";
import { isSourceKey } from "../config/provider-source.js";
import type { Settings } from "../config/read-settings.js";
import { json, stylesheet, type AnyReply } from "../http/reply.js";
import { pathOf, type IdpRequest } from "../http/request.js";
import { failureReply, outageReply } from "../pages/failure-reply.js";
import { lazily } from "../work/lazily.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import { createCallback } from "./callback.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { loadApiLogin, loadChooser, loadOrganization, login } from "./login.js";
import { endsAtProvider, loadLogoutAtProvider, logout } from "./logout.js";
import { loadPostedEmail, postedLogin } from "./posted-login.js";
import { refuseWithoutClick } from "./refuse-without-click.js";
import { session } from "./session-probe.js";

type Endpoint = (opened: SessionRequest, context: EndpointContext) => Promise<AnyReply>;

/**
 * The public halves of the client's keys (RFC 7517 section 5). A key management service's key has
 * none here.
 */
function createPublicKeys({ settings }: EndpointRegistration): Endpoint {
  const keys = (settings.privateKey ?? []).flatMap(({ publicJwk }) => publicJwk ?? []);
  const distinct = [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
  return () => Promise.resolve(json({ keys: distinct }));
}

const styleSheet: Endpoint = async (_, { pages }) => stylesheet(await pages.style());

// Most applications turn none of these on, or need them late. Only the debug page, which nobody's
// sign-in needs, waits for its first request.
const loadBackchannelLogout = lazily(() => import("./backchannel-logout.js"));
const loadEvents = lazily(() => import("./events.js"));
const loadFrontchannelLogout = lazily(() => import("./frontchannel-logout.js"));
const loadSessionList = lazily(() => import("./session-list.js"));
const loadPageEndpoints = lazily(() => import("./page-endpoints.js"));
const loadApexCallback = lazily(() => import("./apex-callback.js"));
const loadDebug = lazily(() => import("./debug.js"));

/**
 * Returns an endpoint whose code begins to load now, since it must not fail because a file can't be
 * opened later. Each request waits for it, and tries again if it failed.
 */
function loadedNow(tasks: UnawaitedTasks, load: () => Promise<Endpoint>): Endpoint {
  const endpoint = lazily(load);
  tasks.add(endpoint());
  return async (opened, context) => (await endpoint())(opened, context);
}

interface EndpointFacts {
  readonly methods: readonly string[];
  /** Whether a provider's settings allow POST. Absent: `methods` says so. */
  readonly postsWith?: (settings: Settings) => boolean;
  /** Off unless this setting is given or on, for one provider at least. */
  readonly setting?:
    | "debug"
    | "events"
    | "sessionsPage"
    | "logoutAtProvider"
    | "backchannelLogout"
    | "frontchannelLogout"
    | "privateKey";
  /**
   * A GET has its effect only if a click of the user or a call of a script made it. `document`: nor
   * if a frame or an image did.
   */
  readonly needsClick?: "navigation" | "document";
  /** A file: its path has no trailing slash. */
  readonly isAsset?: true;
}

interface SharedRow extends EndpointFacts {
  readonly perProvider?: undefined;
  readonly create: (context: EndpointContext) => Endpoint;
}

interface ProviderRow extends EndpointFacts {
  /** Each of several providers has its own path: this one, a slash and its key. */
  readonly perProvider: true;
  readonly create: (context: EndpointContext, registration: EndpointRegistration) => Endpoint;
}

type EndpointRow = SharedRow | ProviderRow;

/** HEAD works where GET has no effect. */
const READ = ["GET", "HEAD"];
const GET = ["GET"];

/**
 * THE table of endpoints: their paths below the mount path. A trailing slash more or less is the
 * same endpoint, because some frameworks add or remove it; only the addresses that idpauth sends are
 * exact. docs/reference/endpoints.md is generated from it.
 */
export const ENDPOINTS: Readonly<Record<string, EndpointRow>> = {
  "": {
    methods: READ,
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadPageEndpoints()).landing),
  },
  login: {
    // A form must work, too (OpenID Connect Core section 4).
    methods: ["GET", "POST"],
    needsClick: "navigation",
    create({ registrations, source, apis, tasks }) {
      if (registrations.length > 1 || source !== undefined) tasks.add(loadChooser());
      if (source?.findByEmailDomain !== undefined) {
        tasks.add(loadOrganization());
        tasks.add(loadPostedEmail());
      }
      if (apis.size > 0) tasks.add(loadApiLogin());
      return (opened, context) =>
        opened.request.method === "POST" ? postedLogin(opened, context) : login(opened, context);
    },
  },
  "login-callback": {
    methods: ["GET", "POST"],
    postsWith: ({ responseMode }) => responseMode === "form_post",
    perProvider: true,
    create: (_, registration) => createCallback(registration),
  },
  session: { methods: READ, create: () => session },
  logout: {
    methods: GET,
    needsClick: "document",
    create({ registrations, source, tasks }) {
      if (registrations.some(endsAtProvider) || source?.inherited.logoutAtProvider)
        tasks.add(loadLogoutAtProvider());
      return logout;
    },
  },
  "logout-callback": {
    methods: GET,
    setting: "logoutAtProvider",
    create: ({ tasks }) =>
      loadedNow(tasks, async () => (await loadLogoutAtProvider()).logoutCallback),
  },
  "backchannel-logout": {
    methods: ["POST"],
    setting: "backchannelLogout",
    perProvider: true,
    create: ({ clock, tasks }, registration) =>
      loadedNow(tasks, async () =>
        (await loadBackchannelLogout()).createBackchannelLogout(clock, registration),
      ),
  },
  "frontchannel-logout": {
    methods: GET,
    setting: "frontchannelLogout",
    perProvider: true,
    create: ({ tasks }, registration) =>
      loadedNow(tasks, async () =>
        (await loadFrontchannelLogout()).createFrontchannelLogout(registration),
      ),
  },
  sessions: {
    methods: ["GET", "POST"],
    setting: "sessionsPage",
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadSessionList()).sessions),
  },
  events: {
    methods: READ,
    setting: "events",
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadEvents()).createEvents()),
  },
  jwks: {
    methods: READ,
    setting: "privateKey",
    perProvider: true,
    create: (_, registration) => createPublicKeys(registration),
  },
  debug: {
    methods: READ,
    setting: "debug",
    create: () => async (opened, context) => (await loadDebug()).debug(opened, context),
  },
  popup: {
    methods: READ,
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadPageEndpoints()).popup),
  },
  "popup.js": {
    methods: READ,
    isAsset: true,
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadPageEndpoints()).popupScript),
  },
  "times.js": {
    methods: READ,
    setting: "sessionsPage",
    isAsset: true,
    create: ({ tasks }) => loadedNow(tasks, async () => (await loadSessionList()).timesScript),
  },
  "style.css": { methods: READ, isAsset: true, create: () => styleSheet },
};

export interface Router<FrameworkRequest> {
  /**
   * Responds to a request for one of the endpoints, with a failure too.
   * @returns undefined if the path is not an endpoint's
   */
  handle(request: IdpRequest, raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /** Whether the path is an endpoint's. */
  isEndpoint(request: IdpRequest): boolean;
}

/**
 * Finds the endpoint for a request. Paths are compared as sent: they are not decoded, case-folded
 * or normalized.
 */
export function createRouter<FrameworkRequest>(
  context: EndpointContext,
  open: (raw: FrameworkRequest, request: IdpRequest) => SessionRequest,
): Router<FrameworkRequest> {
  const { pages, hosts } = context;
  const { mountPath } = context.settings;
  const mountWithoutSlash = mountPath.slice(0, -1);
  const routes = endpoints(context);
  const sourced = createSourcedRoutes(context);
  const hasApex = context.settings.callbackOrigin !== null;
  if (hasApex) context.tasks.add(loadApexCallback());

  async function respond(
    path: string,
    request: IdpRequest,
    raw: FrameworkRequest,
  ): Promise<AnyReply> {
    if (hasApex) {
      const { apexCallback } = await loadApexCallback();
      const reply = await apexCallback(path, request, context);
      if (reply !== undefined) return reply;
    }
    if (hosts !== undefined) {
      const refused = await hosts.refused(request);
      if (refused !== undefined) return refused;
    }
    let route = routes.get(path);
    try {
      if (route === undefined && sourced.has(path)) route = await sourced.find(path);
    } catch (error) {
      return outageReply(error, request, { pages });
    }
    if (route === undefined)
      return failureReply({ code: "not_found" }, request, { pages, otherwise: "json" });
    const { method } = request;
    if (!route.methods.includes(method)) {
      const headers = { Allow: route.methods.join(", ") };
      return failureReply({ code: "method_not_allowed", headers }, request, {
        pages,
        otherwise: "json",
      });
    }
    const { needsClick } = route;
    if (needsClick !== undefined && method === "GET") {
      const click = { path: path.replace("/", ""), asDocument: needsClick === "document" };
      const refused = refuseWithoutClick(request, click, pages);
      if (refused !== undefined) return refused;
    }
    try {
      return await route.endpoint(open(raw, request), context);
    } catch (error) {
      return outageReply(error, request, { pages });
    }
  }

  return {
    isEndpoint({ target }) {
      const path = pathOf(target);
      return (
        path === mountWithoutSlash ||
        (path.startsWith(mountPath) &&
          (routes.has(path.slice(mountPath.length)) || sourced.has(path.slice(mountPath.length))))
      );
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

/** The endpoints of the providers that a source gives. */
interface SourcedRoutes {
  /** Whether a path can be one of theirs. */
  has(path: string): boolean;
  /** Undefined: there is no such provider, or it has turned this endpoint off. */
  find(path: string): Promise<Route | undefined>;
}

function createSourcedRoutes(context: EndpointContext): SourcedRoutes {
  const { source, registrations } = context;
  if (source === undefined) return { has: () => false, find: () => Promise.resolve(undefined) };
  // Each keeps what it knows of running requests, as long as its provider is remembered.
  const routesOf = new WeakMap<EndpointRegistration, Map<string, Route>>();
  const parts = (path: string) => {
    const [name = "", key = "", ...others] = path.replace(/\/$/, "").split("/");
    const row = Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined;
    return row?.perProvider === true && others.length === 0 && isSourceKey(key)
      ? { name, key, row }
      : undefined;
  };
  return {
    has: (path) => parts(path) !== undefined,
    async find(path) {
      const found = parts(path);
      if (found === undefined || registrations.some(({ key }) => key === found.key))
        return undefined;
      const { name, key, row } = found;
      const { setting } = row;
      // The public key is the provider's own. The others the application turns on for all.
      if (setting !== undefined && setting !== "privateKey" && !turnsOn(source.inherited, setting))
        return undefined;
      const registration = await source.find(key, "request");
      if (registration === undefined || !isOn(row, registration)) return undefined;
      const known = routesOf.get(registration) ?? new Map<string, Route>();
      routesOf.set(registration, known);
      const route = known.get(name) ?? routeOf(row, context, registration);
      known.set(name, route);
      return route;
    },
  };
}

function turnsOn(
  settings: Partial<Settings>,
  setting: NonNullable<EndpointFacts["setting"]>,
): boolean {
  return Boolean(settings[setting]);
}

function isOn({ setting }: EndpointFacts, { settings }: EndpointRegistration): boolean {
  return setting === undefined || turnsOn(settings, setting);
}

function routeOf(
  row: ProviderRow,
  context: EndpointContext,
  registration: EndpointRegistration,
): Route {
  const methods = row.postsWith?.(registration.settings) === false ? GET : row.methods;
  return { ...row, methods, endpoint: row.create(context, registration) };
}

type Route = Pick<EndpointFacts, "methods" | "needsClick" | "isAsset"> & {
  readonly endpoint: Endpoint;
};

/** The endpoints that the settings turn on. Every other path below the mount path is a 404. */
function endpoints(context: EndpointContext): ReadonlyMap<string, Route> {
  const { registrations, source } = context;
  const isShared = ({ setting }: SharedRow) =>
    setting === undefined ||
    registrations.some(({ settings }) => turnsOn(settings, setting)) ||
    (source !== undefined && turnsOn(source.inherited, setting));
  return new Map(
    Object.entries(ENDPOINTS).flatMap(([path, row]) => {
      if (!row.perProvider)
        return isShared(row) ? pathsOf(path, { ...row, endpoint: row.create(context) }) : [];
      return registrations
        .filter((registration) => isOn(row, registration))
        .flatMap((registration) => {
          const { key } = registration;
          const own = key === undefined ? path : `${path}/${key}`;
          return pathsOf(own, routeOf(row, context, registration));
        });
    }),
  );
}

/** The paths of a route, of which a file has one. */
function pathsOf(path: string, route: Route): [string, Route][] {
  return (route.isAsset || path === "" ? [path] : [path, `${path}/`]).map((each) => [each, route]);
}
