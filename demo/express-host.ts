import { createHash } from "node:crypto";
import express, { type ErrorRequestHandler, type Express } from "express";
import session from "express-session";
import { isOutage, type SessionStore } from "idpauth";
import { idpAuth, type ExpressIdpAuth } from "idpauth/express";
import { mountPath, type DemoConfiguration, type Environment } from "./configuration.js";
import { homePage, messagePage, reportsPage, REPORTS } from "./pages.js";
import { sendPage } from "./send-page.js";
import { STYLE } from "./style.js";
import { fetchUserinfo, UserinfoError } from "./userinfo.js";

export interface DemoSetup {
  readonly configuration: Pick<DemoConfiguration, "sessions">;
  /** The demo's defaults included. */
  readonly env: Environment;
  /** Undefined: the package's own choice, or the host's sessions. */
  readonly store: SessionStore | undefined;
}

export interface DemoApplication {
  readonly app: Express;
  /** Resolves once nothing goes on that needs the store or the provider; for after the server is closed. */
  idle(): Promise<void>;
}

/**
 * The demo as an Express application.
 *
 * @param extend adds routes, which come before the demo's own
 * @throws ConfigurationError when a startup check fails
 */
export function expressDemo(
  { configuration, env, store }: DemoSetup,
  extend: (app: Express, auth: ExpressIdpAuth) => void = () => {},
): DemoApplication {
  const app = express();
  app.disable("x-powered-by");

  if (configuration.sessions.kind === "host") {
    // A key of its own, derived: never one secret for two purposes.
    const secret = createHash("sha256")
      .update(`express-session ${env["SECRET_KEY"] ?? ""}`)
      .digest("base64url");
    app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { httpOnly: true, sameSite: "lax", secure: "auto" } }));
  }

  const auth = idpAuth({ env, ...(configuration.sessions.kind === "host" && { session: "host" }), ...(store && { store }) });
  auth.mount(app);
  extend(app, auth);
  const mounted = mountPath(env);

  app.get("/", (_request, response) => {
    sendPage(response, 200, homePage(mounted));
  });

  app.get("/reports", auth.idpRequired, async (request, response) => {
    const user = await auth.getUser(request);
    sendPage(response, 200, reportsPage(mounted, user), { picture: user?.picture });
  });

  app.get("/api/reports", auth.idpRequired, async (request, response) => {
    response.set("Cache-Control", "no-store").json({ user: await auth.getUser(request), reports: REPORTS });
  });

  app.get("/api/userinfo", auth.idpRequired, async (request, response) => {
    const credentials = await auth.getCredentials(request);
    // The guard let the visitor through a moment ago, but a sign-out in another tab may have come between.
    if (credentials === null) {
      response.status(401).json({ error: "login_required" });
      return;
    }
    response.set("Cache-Control", "no-store").json(await fetchUserinfo(env["IDP_ISSUER"], credentials.token));
  });

  app.get("/demo.css", (_request, response) => {
    response.set("Cache-Control", "max-age=3600").type("css").send(STYLE);
  });

  // Browsers ask for it unasked.
  app.get("/favicon.ico", (_request, response) => {
    response.status(204).set("Cache-Control", "max-age=3600").end();
  });

  app.use((_request, response) => {
    sendPage(response, 404, messagePage("There is nothing here", "This address leads nowhere."));
  });

  app.use(onError);
  return { app, idle: () => auth.idle() };
}

const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
  } else if (isOutage(error)) {
    // Nobody has been signed out: the same request may succeed a moment later.
    const retryAfter = "retryAfter" in error ? error.retryAfter : 1;
    response.status(error.status).set("Retry-After", String(retryAfter)).json({ error: error.code });
  } else if (error instanceof UserinfoError) {
    response.status(502).json({ error: "userinfo_failed", detail: error.message });
  } else {
    console.error(error);
    response.status(500).json({ error: "internal_error" });
  }
};
