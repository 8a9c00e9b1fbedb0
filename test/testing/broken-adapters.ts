import { ServerResponse } from "node:http";
import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { Stored } from "../../src/adapter.js";
import {
  ConfigurationError,
  memoryStore,
  type IdpAuthOptions,
  type Session,
  type SessionStore,
} from "../../src/index.js";
import type { AdapterSetup } from "../../packages/idpauth-conformance/src/index.js";
import type { ExpressChanges } from "../adapters/applications/express.js";

/** An Express application with one mistake in it, such as people and frameworks make. */
export interface BrokenApplication extends ExpressChanges {
  readonly name: string;
  /** The requirement that finds it; the title by its beginning. */
  readonly breaks: readonly [area: string, title: string];
  readonly setup?: (setup: AdapterSetup) => AdapterSetup;
}

/** Something before idpauth does this, and goes on. */
export function before(work: (request: Request, response: Response) => void): {
  readonly first: RequestHandler;
} {
  return {
    first(request, response, next) {
      work(request, response);
      next();
    },
  };
}

/** idpauth with parts replaced. */
export function patched(
  patch: (auth: ExpressIdpAuth, options: IdpAuthOptions) => Partial<ExpressIdpAuth>,
): Pick<ExpressChanges, "idpAuth"> {
  return {
    idpAuth: ((options?: IdpAuthOptions) => {
      const auth = idpAuth(options);
      return { ...auth, ...patch(auth, options ?? {}) };
    }) as typeof idpAuth,
  };
}

/** Replaces the guard, also the one with the application's own responses. */
function guarded(
  wrap: (guard: RequestHandler, auth: ExpressIdpAuth) => RequestHandler,
): Pick<ExpressChanges, "idpAuth"> {
  return patched((auth) => ({
    idpRequired: wrap(auth.idpRequired, auth),
    idpRequiredWith: (responses) => wrap(auth.idpRequiredWith(responses), auth),
  }));
}

function mounts(
  change: (options: IdpAuthOptions) => IdpAuthOptions,
): Pick<BrokenApplication, "setup"> {
  return { setup: (setup) => ({ ...setup, mounts: setup.mounts.map(change) }) };
}

/** The target as a server before Express would have rewritten it. */
export function retargeted(rewrite: (target: string) => string): {
  readonly first: RequestHandler;
} {
  return before((request) => {
    request.originalUrl = request.url = rewrite(request.url);
  });
}

export function headerChanged(
  name: string,
  change: (response: Response, value: unknown) => unknown,
): { readonly first: RequestHandler } {
  return before((_request, response) => {
    const setHeader = response.setHeader.bind(response);
    response.setHeader = (its: string, value: never) =>
      its.toLowerCase() === name.toLowerCase()
        ? (change(response, value), response)
        : setHeader(its, value);
  });
}

/** What can be decoded is. */
function decoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Waits for the whole body, as a framework does that parses it. */
const wholeBody: RequestHandler = (request, _response, next) =>
  void request.once("end", () => next()).resume();

function withCookies(response: Response, joined: (lines: readonly string[]) => string): void {
  const setHeader = response.setHeader.bind(response);
  response.setHeader = (name, value) =>
    setHeader(name, name === "Set-Cookie" && Array.isArray(value) ? joined(value) : value);
}

export const brokenApplications: readonly BrokenApplication[] = [
  {
    name: "keeps only the last Set-Cookie line",
    breaks: ["guard", "the Vary and Set-Cookie values of"],
    ...before((_request, response) => withCookies(response, (lines) => lines.at(-1) ?? "")),
  },
  {
    name: "writes all cookies into one line",
    breaks: ["guard", "the Vary and Set-Cookie values of"],
    ...before((_request, response) => withCookies(response, (lines) => lines.join(", "))),
  },
  {
    name: "replaces the Vary of earlier middleware",
    breaks: ["guard", "the Vary and Set-Cookie values of"],
    ...before((_request, response) => {
      const setHeader = response.setHeader.bind(response);
      response.setHeader = (name: string, value: never) =>
        setHeader(name, name === "Vary" ? "Cookie" : value);
    }),
  },
  {
    name: "sends a login to BASE_URL for ever",
    breaks: ["login", "a login that comes back from"],
    ...retargeted((target) => target.replace("&idp_hop=1", "")),
  },
  {
    name: "decodes the query of a login once more",
    breaks: ["login parameters", "a listed parameter of the login's query reaches"],
    ...retargeted((target) => target.replace("%2B", "+")),
  },
  {
    name: "has a login return to the path without its query",
    breaks: ["login parameters", "loginUrl gives a login that returns"],
    ...patched((auth) => ({
      loginUrl: (request, options) =>
        auth.loginUrl(request, { returnTo: request.path, ...options }),
    })),
  },
  {
    name: "sends every navigation to the login",
    breaks: ["login parameters", "a guarded page does not loop if"],
    ...guarded((_guard, auth) =>
      auth.idpRequiredWith({
        navigation: (request, response) => response.redirect(auth.loginUrl(request)),
      }),
    ),
  },
  {
    name: "tells caches nothing of a guarded page",
    breaks: ["guarded responses", "a guarded response is private and is not stored"],
    ...guarded((guard) => (request, response, next) => {
      void guard(request, response, () => {
        response.removeHeader("Cache-Control");
        response.writeHead = ServerResponse.prototype.writeHead as typeof response.writeHead;
        next();
      });
    }),
  },
  {
    name: "says the same of every page, guarded or not",
    breaks: ["guarded responses", "a guarded response is private and is not stored"],
    ...before((_request, response) => {
      response.setHeader("Cache-Control", "private, no-store");
    }),
  },
  {
    name: "has its own Cache-Control replace the application's",
    breaks: ["guarded responses", "an application's own Cache-Control stays"],
    ...headerChanged("Cache-Control", () => undefined),
  },
  {
    name: "loses Cookie when the application sets Vary",
    breaks: ["guarded responses", "Vary is merged with the application's own"],
    ...guarded((guard) => (request, response, next) => {
      void guard(request, response, () => {
        response.writeHead = ServerResponse.prototype.writeHead as typeof response.writeHead;
        response.setHeader("Vary", "Cookie");
        next();
      });
    }),
  },
  {
    name: "names Cookie in Vary once more",
    breaks: ["guarded responses", "Vary is merged with the application's own"],
    ...guarded((guard) => (request, response, next) => {
      void guard(request, response, () => {
        const { writeHead } = response;
        response.writeHead = ((status: number) => {
          response.appendHeader("Vary", "Cookie");
          return writeHead.call(response, status);
        }) as typeof writeHead;
        next();
      });
    }),
  },
  {
    name: "forgets what earlier middleware put into Vary of a guarded page",
    breaks: ["guarded responses", "the Vary values of earlier middleware"],
    ...guarded((guard) => (request, response, next) => {
      void guard(request, response, () => {
        response.removeHeader("Vary");
        next();
      });
    }),
  },
  {
    name: "responds and runs the protected handler all the same",
    breaks: ["guard", "the protected handler never runs if"],
    ...guarded((guard) => (request, response, next) => {
      response.once("finish", () => {
        response.json = () => response;
        next();
      });
      void guard(request, response, next);
    }),
  },
  {
    name: "guards the page's exact spelling only",
    breaks: ["bad input", "no spelling of a guarded path"],
    ...guarded((guard) => (request, response, next) => {
      if (request.path === "/reports") void guard(request, response, next);
      else next();
    }),
  },
  {
    name: "redirects scripts, too",
    breaks: ["guard", "a GET or HEAD that navigates"],
    ...guarded((_guard, auth) =>
      auth.idpRequiredWith({
        unauthenticated: (_request, response, { loginUrl }) => response.redirect(loginUrl),
      }),
    ),
  },
  {
    name: "does not look at Sec-Fetch-Mode",
    breaks: ["guard", "a GET or HEAD that navigates"],
    ...before((request) => {
      delete request.headers["sec-fetch-mode"];
    }),
  },
  {
    name: "loses the query on the way back",
    breaks: ["guard", "a navigation is redirected to sign"],
    ...guarded((guard) => (request, response, next) => {
      request.originalUrl = request.path;
      void guard(request, response, next);
    }),
  },
  {
    name: "decodes the query on the way back",
    breaks: ["guard", "a navigation is redirected to sign"],
    ...guarded((guard) => (request, response, next) => {
      request.originalUrl = decoded(request.originalUrl);
      void guard(request, response, next);
    }),
  },
  {
    name: "leads back by a path instead of an address",
    breaks: ["guard", "a page whose path resembles"],
    ...guarded((_guard, auth) =>
      auth.idpRequiredWith({
        navigation: (request, response) =>
          response.redirect(
            `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(request.originalUrl)}`,
          ),
      }),
    ),
  },
  {
    name: "says less in its 401",
    breaks: ["guard", "a script gets a 401 with"],
    ...guarded((_guard, auth) =>
      auth.idpRequiredWith({
        unauthenticated: (_request, response) =>
          void response.status(401).json({ error: "login_required" }),
      }),
    ),
  },
  {
    name: "responds to an outage with 500",
    breaks: ["guard", "during a provider outage the guard"],
    ...before((_request, response) => {
      const end = response.end.bind(response);
      response.end = ((...parts: Parameters<typeof end>) => {
        if (response.statusCode === 503) response.statusCode = 500;
        return end(...parts);
      }) as typeof end;
    }),
  },
  {
    name: "drops Retry-After",
    breaks: ["guard", "during a provider outage the guard"],
    ...headerChanged("Retry-After", () => undefined),
  },
  {
    name: "takes an outage of the store for signed out",
    breaks: ["guard", "during a store outage the guard"],
    ...guarded((_guard, auth) =>
      auth.idpRequiredWith({
        unavailable: (_request, response) =>
          void response.status(401).json({ error: "login_required" }),
      }),
    ),
  },
  {
    name: "ignores the application's own responses",
    breaks: ["guard", "an application's own responses go to navigations"],
    ...patched((auth) => ({ idpRequiredWith: () => auth.idpRequired })),
  },
  {
    name: "swallows what the application's own responses throw",
    breaks: ["guard", "an application's own response that throws"],
    ...guarded(
      (guard) => (request, response, next) =>
        void guard(request, response, ((error?: unknown) =>
          error === undefined ? next() : response.status(500).end()) as NextFunction),
    ),
  },
  {
    name: "lets every signed-in user pass, whatever the rule of the route",
    breaks: ["guard", "a route's allow lets only users"],
    ...patched((auth) => ({
      idpRequiredWith: ({ allow: _allow, ...route }) => auth.idpRequiredWith(route),
    })),
  },
  {
    name: "takes a rule that throws for a refusal",
    breaks: ["guard", "an allow that throws or rejects"],
    ...patched((auth) => ({
      idpRequiredWith: ({ allow, ...route }) =>
        auth.idpRequiredWith({
          ...route,
          async allow(session) {
            try {
              return (await allow?.(session)) ?? true;
            } catch {
              return false;
            }
          },
        }),
    })),
  },
  {
    name: "ignores the application's own response to a step-up",
    breaks: ["guard", "an application's own responses go to users whom"],
    ...patched((auth) => ({
      idpRequiredWith: ({ stepUp: _stepUp, ...route }) => auth.idpRequiredWith(route),
    })),
  },
  {
    name: "drops the challenge",
    breaks: ["guard", "a route's maxAge: a recent sign-in passes"],
    ...headerChanged("WWW-Authenticate", () => undefined),
  },
  {
    name: "changes a copy of the data",
    breaks: ["accessors", "getSession, updateData and clientState"],
    ...patched((auth) => ({
      updateData: async (request, change) => change((await auth.getSession(request))?.data ?? {}),
    })),
  },
  {
    name: "puts its headers on every response",
    breaks: ["guard", "a route without a guard is"],
    ...before((_request, response) => void response.setHeader("Referrer-Policy", "no-referrer")),
  },
  {
    name: "lets the framework respond to HEAD by itself",
    breaks: ["bad input", "unexpected methods get 405 at every"],
    ...before((request) => {
      if (request.method === "HEAD") request.method = "GET";
    }),
  },
  {
    name: "does what X-HTTP-Method-Override says",
    breaks: ["bad input", "unexpected methods get 405 at every"],
    ...before((request) => {
      request.method =
        (request.headers["x-http-method-override"] as string | undefined) ?? request.method;
    }),
  },
  {
    name: "puts the user into the request",
    breaks: ["accessors", "neither the guard nor an accessor"],
    ...guarded((guard) => (request, response, next) => {
      Object.assign(request, { user: {} });
      void guard(request, response, next);
    }),
  },
  {
    name: "remembers the session at the request under a symbol",
    breaks: ["accessors", "neither the guard nor an accessor"],
    ...patched((auth) => ({
      getCredentials(request) {
        Object.assign(request, { [Symbol("session")]: {} });
        return auth.getCredentials(request);
      },
    })),
  },
  {
    name: "gives the record itself",
    breaks: ["accessors", "readSessionRecord gives exactly the specified keys"],
    ...patched((auth) => ({
      readSessionRecord: async (request) => ({
        ...(await auth.readSessionRecord(request)),
        idp_state: {},
      }),
    })),
  },
  {
    name: "gives a session that can be changed",
    breaks: ["accessors", "readSessionRecord gives exactly the specified keys"],
    ...patched((auth) => ({
      async readSessionRecord(request) {
        const session = await auth.readSessionRecord(request);
        return session && { ...session };
      },
    })),
  },
  {
    name: "gives the record as the session",
    breaks: ["accessors", "getSession gives the user, the verified claims"],
    ...patched((auth) => ({
      getSession: async (request: Request) =>
        (await auth.readSessionRecord(request)) as unknown as Session | null,
    })),
  },
  {
    name: "gives the session of a user whom a session limit has signed out",
    breaks: ["accessors", "when the maximum age has passed, each accessor reports"],
    ...patched((auth) => ({
      async getSession(request: Request) {
        const record = await auth.readSessionRecord(request);
        return (
          (await auth.getSession(request)) ??
          (record && ({ claims: record["id_info"] } as unknown as Session))
        );
      },
    })),
  },
  {
    name: "refreshes when the application only checks whether the user is signed in",
    breaks: ["accessors", "checkIdpAuthentication and explainIdpAuthentication do not refresh,"],
    ...patched((auth) => ({
      checkIdpAuthentication: async (request) => (await auth.getCredentials(request)) !== null,
    })),
  },
  {
    name: "gives null in an outage",
    breaks: ["accessors", "during a provider outage the accessors"],
    ...patched((auth) => ({
      getCredentials: (request) => auth.getCredentials(request).catch(() => null),
    })),
  },
  {
    name: "rejects in an outage although the application has given a value for it",
    breaks: ["accessors", "getSession with ifUnavailable gives"],
    ...patched((auth) => ({ getSession: (request: Request) => auth.getSession(request) })),
  },
  {
    name: "gives the session as it is by now",
    breaks: ["guard", "requireSession gives the session that the guard saw"],
    ...patched((auth) => ({
      requireSession: async (request) => (await auth.getSession(request)) as Session,
    })),
  },
  {
    name: "reads the session once more for requireSession",
    breaks: ["guard", "the guard and requireSession share"],
    ...patched((auth) => ({
      requireSession: async (request) => (await auth.getSession(request)) as Session,
    })),
  },
  {
    name: "takes a signed-in user for one whom a guard let pass",
    breaks: ["guard", "requireSession rejects with a GuardMissingError"],
    ...patched((auth) => ({
      requireSession: (request) =>
        auth.requireSession(request).catch(async () => (await auth.getSession(request)) as Session),
    })),
  },
  {
    name: "reads the session once more for each question",
    breaks: ["accessors", "the guard and all accessors share"],
    ...patched((_auth, options) => ({
      getCredentials: idpAuth({ ...options, log: false }).getCredentials,
    })),
  },
  {
    name: "ignores minValidity",
    breaks: ["accessors", "getAccessToken checks the access token's own"],
    ...patched((auth) => ({ getAccessToken: (request) => auth.getAccessToken(request) })),
  },
  {
    name: "wraps what handlers throw",
    breaks: ["errors", "an error that a handler throws"],
    setup: (setup) => ({
      ...setup,
      caught: (error) => setup.caught(new Error("wrapped", { cause: error })),
    }),
  },
  {
    name: "leaves its own errors to the framework",
    breaks: ["errors", "an error of idpauth that the application does not catch"],
    ...patched(() => ({
      errorHandler(error, _request, _response, next) {
        next(error);
      },
    })),
  },
  {
    name: "starts in spite of its configuration",
    breaks: ["errors", "an empty secret key keeps the"],
    ...patched((auth) => ({
      mount(app) {
        try {
          return auth.mount(app);
        } catch {
          app.use(auth.routes);
          return [];
        }
      },
    })),
  },
  {
    name: "tells the first mistake only",
    breaks: ["errors", "configuration errors keep the application from"],
    ...patched((auth) => ({
      mount(app) {
        try {
          return auth.mount(app);
        } catch (error) {
          throw new ConfigurationError((error as ConfigurationError).findings.slice(0, 1));
        }
      },
    })),
  },
  {
    name: "hands its own responses to the application's error handler",
    breaks: ["errors", "a response of idpauth, also a"],
    first: (request, _response, next) => {
      if (request.path.startsWith("/idpauth/nothing"))
        next(Object.assign(new Error("not found"), { status: 404 }));
      else next();
    },
  },
  {
    name: "parses bodies before the handler",
    breaks: ["bodies", "bytes of every kind reach the"],
    first: express.text({ type: () => true, limit: "9mb" }),
  },
  {
    name: "refuses bodies of more than a megabyte",
    breaks: ["bodies", "a large body reaches the handler"],
    first: (request, response, next) => {
      if (Number(request.headers["content-length"]) > 1_000_000) response.status(413).end();
      else next();
    },
  },
  {
    name: "parses JSON",
    breaks: ["bodies", "a body is not parsed, for"],
    first: express.json(),
  },
  {
    name: "holds responses back until they are complete",
    breaks: ["bodies", "a body streams: the response to"],
    ...before((_request, response) => {
      const end = response.end.bind(response);
      const parts: Buffer[] = [];
      response.write = (part: unknown) => parts.push(Buffer.from(part as Buffer)) > 0;
      response.end = ((last?: unknown) =>
        end(Buffer.concat([...parts, Buffer.from((last ?? "") as string)]))) as typeof end;
    }),
  },
  {
    name: "guards after the body has come",
    breaks: ["bodies", "a POST that the guard blocks"],
    ...guarded(
      (guard) => (request, response, next) =>
        void wholeBody(request, response, () => void guard(request, response, next)),
    ),
  },
  {
    name: "loses what comes while the guard is at work",
    breaks: ["bodies", "a body that arrives during a"],
    ...guarded((guard) => (request, response, next) => {
      request.resume();
      void guard(request, response, next);
    }),
  },
  {
    name: "responds for an endpoint after the body has come",
    breaks: ["bodies", "a big body to an endpoint"],
    first(request, response, next) {
      if (request.path.startsWith("/idpauth")) void wholeBody(request, response, next);
      else next();
    },
  },
  {
    name: "undoes what was done for users who have left",
    breaks: ["aborts", "a user who leaves during a refresh, when"],
    ...undoing(),
  },
  {
    name: "has one sign-in for all mounts",
    breaks: ["mounts", "a sign-in at one mount is"],
    idpAuth: oneForAll(),
  },
  {
    name: "gives all mounts one cookie",
    breaks: ["mounts", "a user is signed in at"],
    ...mounts((options) => ({ ...options, cookieName: "idpauth" })),
  },
  {
    name: "knows a state whatever mount it belongs to",
    breaks: ["mounts", "a state of one mount at"],
    ...retargeted((target) =>
      target.includes("login-callback") ? target.replace("/partners", "") : target,
    ),
  },
  {
    name: "follows the router's url instead of the original one",
    breaks: ["sub-path", "guard, login, callback, page and logout"],
    ...before((request) => {
      Object.defineProperty(request, "originalUrl", {
        get: () => request.url,
        set: () => undefined,
      });
    }),
  },
  {
    name: "responds outside of its path, too",
    breaks: ["sub-path", "addresses outside the path belong to"],
    ...retargeted((target) => (target.startsWith("/idpauth/") ? `/area${target}` : target)),
  },
  {
    name: "trusts every forwarded header",
    breaks: ["proxy", "by default forwarded headers are ignored"],
    ...mounts((options) => ({ ...options, trustProxy: true })),
  },
  {
    name: "trusts no forwarded header",
    breaks: ["proxy", "the framework's own setting lets X-Forwarded-Proto"],
    ...before((request) => {
      delete request.headers["x-forwarded-proto"];
    }),
  },
  {
    name: "does not know BASE_URL",
    breaks: ["proxy", "with BASE_URL forwarded headers and Host are ignored"],
    ...mounts((options) => ({ ...options, baseUrl: null })),
  },
  {
    name: "does not know the path prefix",
    breaks: [
      "path prefix",
      "the whole trip works behind a proxy that strips a path prefix (option pathPrefix)",
    ],
    ...mounts((options) => ({ ...options, pathPrefix: "" })),
  },
  {
    name: "writes a link without the prefix",
    breaks: ["path prefix", "every link of every page has"],
    ...before((_request, response) => {
      const end = response.end.bind(response);
      response.end = ((body?: unknown) =>
        end(
          typeof body === "string"
            ? body.replace("/portal/idpauth/style.css", "/idpauth/style.css")
            : (body as string),
        )) as typeof end;
    }),
  },
  {
    name: "decodes the path",
    breaks: ["bad input", "an endpoint has exactly one path:"],
    ...retargeted(decoded),
  },
  {
    name: "stumbles over bad percent-encoding",
    breaks: ["bad input", "an endpoint has exactly one path:"],
    ...before((request) => void decodeURIComponent(request.path)),
  },
  {
    name: "merges slashes",
    breaks: ["bad input", "an endpoint has exactly one path:"],
    ...retargeted((target) => target.replace(/\/{2,}/g, "/")),
  },
  {
    name: "does not tell letters by their case",
    breaks: ["bad input", "an endpoint has exactly one path:"],
    ...retargeted((target) => target.replace(/^[^?]*/, (path) => path.toLowerCase())),
  },
  {
    name: "resolves dots and backslashes",
    breaks: ["bad input", "an endpoint has exactly one path:"],
    ...retargeted((target) =>
      target.startsWith("/") ? new URL(`http://h${target}`).href.slice("http://h".length) : target,
    ),
  },
  {
    name: "is always in debug mode",
    breaks: ["bad input", "outside debug mode the debug endpoint"],
    ...mounts((options) => ({ ...options, debug: true })),
  },
  {
    name: "takes a target in absolute form for a path",
    breaks: ["bad input", "request targets in absolute form, without"],
    ...retargeted((target) => (target.startsWith("/") ? target : `/${target}`)),
  },
  {
    name: "keeps the last of repeated parameters",
    breaks: ["bad input", "queries with repeated or odd names,"],
    ...retargeted((target) => {
      const [path = "", query] = target.split("?");
      return query === undefined
        ? target
        : `${path}?${new URLSearchParams(Object.fromEntries(new URLSearchParams(query))).toString()}`;
    }),
  },
  {
    name: "decodes cookies, and fails at those that cannot be",
    breaks: ["bad input", "headers of sixteen kilobytes, hostile cookies"],
    ...before((request) => {
      if (request.headers.cookie !== undefined)
        request.headers.cookie = decodeURIComponent(
          request.headers.cookie.replace("__proto__=", "%"),
        );
    }),
  },
  {
    name: "replaces an invalid Host",
    breaks: ["bad input", "an invalid Host gets 400 at"],
    ...before((request) => {
      if (!URL.canParse(`http://${request.headers.host ?? ""}`)) withHost(request, "localhost");
    }),
  },
  {
    name: "believes the first of two Host headers",
    breaks: ["bad input", "two Host headers get 400 at"],
    ...before((request) => withHost(request, request.headers.host ?? "")),
  },
];

/** Sets the Host header in each place where an adapter can read it. */
function withHost(request: Request, host: string): void {
  const others = request.rawHeaders.flatMap((name, index, all) =>
    index % 2 === 0 && name.toLowerCase() !== "host" ? [name, all[index + 1] ?? ""] : [],
  );
  request.rawHeaders = ["Host", host, ...others];
  request.headers.host = host;
  Object.defineProperty(request, "headersDistinct", { value: { host: [host] } });
}

/**
 * Undoes at once what is stored for a user who has left, like a framework that rolls back aborted
 * requests.
 */
function undoing(): Pick<BrokenApplication, "first" | "setup"> {
  let hasLeft = false;
  let before: Stored | undefined;
  return {
    first(_request, response, next) {
      hasLeft = false;
      before = undefined;
      response.once("close", () => {
        hasLeft = !response.writableEnded;
      });
      next();
    },
    ...mounts((options) => {
      const store = memoryStore({ clock: options.clock! });
      const broken: SessionStore = {
        name: "undoing",
        inProcess: true,
        get: (key) => store.get(key),
        insert: (key, entry) => store.insert(key, entry),
        async replace(key, entry, version) {
          before ??= await store.get(key);
          const isWritten = await store.replace(key, entry, version);
          if (hasLeft && before)
            await store.replace(key, before, (await store.get(key))?.version ?? "");
          return isWritten;
        },
        touch: (key, lastActive, expiresAt) => store.touch(key, lastActive, expiresAt),
        delete: (key) => store.delete(key),
        listBySubject: (subject, cursor) => store.listBySubject(subject, cursor),
        listBySid: (sid, cursor) => store.listBySid(sid, cursor),
      };
      return { ...options, store: broken };
    }),
  };
}

/** The accessors and the guard of the mount that was made first, for every mount. */
function oneForAll(): typeof idpAuth {
  let first: ExpressIdpAuth | undefined;
  return ((options: IdpAuthOptions) => {
    const auth = idpAuth(options);
    first ??= auth;
    return { ...first, mount: auth.mount, routes: auth.routes };
  }) as typeof idpAuth;
}
