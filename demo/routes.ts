import { hasClaim } from "idpauth";
import { fileAnswer, jsonAnswer, pageAnswer, streamAnswer, type DemoAnswer } from "./answers.js";
import { appRoutes } from "./app-routes.js";
import type { DemoSetup } from "./application.js";
import { mountPath } from "./configuration.js";
import { events, streamScript } from "./event-stream.js";
import { ordersRoutes } from "./orders-routes.js";
import {
  adminPage,
  groupsOf,
  homePage,
  payrollPage,
  reportsPage,
  REPORTS,
  transferPage,
} from "./pages.js";
import {
  signedOutMeanwhile,
  type Accessors,
  type DemoRoute,
  type DemoSession,
  type DemoSocket,
} from "./route.js";
import { STYLE } from "./style.js";
import { fetchUserinfo } from "./userinfo.js";
import { serveSocket } from "./web-socket.js";

export function demoSocket<FrameworkRequest extends object>(
  { env }: DemoSetup,
  auth: Accessors<FrameworkRequest>,
): DemoSocket<FrameworkRequest> {
  const base = env["BASE_URL"]?.trim() ?? "";
  return {
    path: "/ws",
    guard: {},
    refusal({ origin = "", host }) {
      // Without BASE_URL the demo works under each of its addresses.
      const own = base === "" ? `http://${host ?? ""}` : base;
      const isOwn = URL.canParse(own) && origin === new URL(own).origin;
      return isOwn ? undefined : jsonAnswer(403, { error: "foreign_origin" });
    },
    plainAnswer() {
      const answer = jsonAnswer(426, { error: "upgrade_required" });
      return { ...answer, headers: { ...answer.headers, Upgrade: "websocket" } };
    },
    opened(socket, request) {
      void serveSocket(socket, auth.whenEnded(request));
    },
  };
}

/**
 * Returns the routes of the demo, the same for every framework.
 *
 * @param bodyOf returns the text of a request's body; undefined if it is too long
 * @param hasSocket whether the framework has a WebSocket at /ws
 */
export function demoRoutes<FrameworkRequest extends object>(
  setup: DemoSetup,
  auth: Accessors<FrameworkRequest>,
  bodyOf: (request: FrameworkRequest) => Promise<string | undefined>,
  hasSocket = true,
): readonly DemoRoute<FrameworkRequest>[] {
  const { env, configuration, providers, orders } = setup;
  const passesSockets = "proxyUpgrade" in auth && configuration.sessions.kind !== "host";
  const { maxAge } = configuration;
  const mounted = mountPath(env);
  const signedIn = {};
  const admin = { allow: hasClaim("groups", "admin") };
  const recent = { maxAge };

  type Respond = (session: DemoSession) => DemoAnswer;
  const forSession = (respond: Respond) => async (request: FrameworkRequest) =>
    respond(await auth.requireSession(request));

  const payroll: DemoRoute<FrameworkRequest> = {
    method: "GET",
    path: "/payroll",
    guard: { provider: "staff" },
    answer: forSession((session) =>
      pageAnswer(200, payrollPage(session), { picture: session.user.picture }),
    ),
  };

  return [
    ...appRoutes(setup, auth, bodyOf),
    ...ordersRoutes<FrameworkRequest>(setup, passesSockets),
    {
      method: "GET",
      path: "/",
      guard: undefined,
      async answer(request) {
        const at = providers && ((await auth.getSession(request))?.provider ?? null);
        return pageAnswer(200, homePage(mounted, orders !== undefined, at));
      },
    },
    {
      method: "GET",
      path: "/reports",
      guard: signedIn,
      answer: forSession(({ user }) =>
        pageAnswer(200, reportsPage(mounted, user), { picture: user.picture, script: true }),
      ),
    },
    {
      method: "GET",
      path: "/api/reports",
      guard: signedIn,
      answer: async (request) =>
        jsonAnswer(200, { user: (await auth.clientState(request)).user, reports: REPORTS }),
    },
    {
      method: "GET",
      path: "/api/userinfo",
      guard: signedIn,
      async answer(request) {
        const { claims } = await auth.requireSession(request);
        const credentials = await auth.getCredentials(request);
        if (credentials === null) return signedOutMeanwhile();
        return jsonAnswer(200, await fetchUserinfo(claims.iss, credentials.token));
      },
    },
    {
      method: "GET",
      path: "/api/me",
      guard: signedIn,
      answer: forSession((session) => jsonAnswer(200, browserView(session))),
    },
    {
      method: "POST",
      path: "/api/visits",
      guard: signedIn,
      async answer(request) {
        const data = await auth.updateData(request, (before) => ({
          ...before,
          visits: (before.visits ?? 0) + 1,
        }));
        return data === null ? signedOutMeanwhile() : jsonAnswer(200, data);
      },
    },
    {
      method: "GET",
      path: "/admin",
      guard: admin,
      answer: forSession((session) =>
        pageAnswer(200, adminPage(session), { picture: session.user.picture }),
      ),
    },
    {
      method: "GET",
      path: "/api/admin",
      guard: admin,
      answer: forSession((session) => jsonAnswer(200, browserView(session))),
    },
    {
      method: "GET",
      path: "/transfer",
      guard: recent,
      answer: forSession((session) =>
        pageAnswer(200, transferPage(session, maxAge), { picture: session.user.picture }),
      ),
    },
    {
      method: "GET",
      path: "/api/transfer",
      guard: recent,
      answer: forSession(({ claims }) =>
        jsonAnswer(200, { authenticatedAt: claims["auth_time"], maxAge }),
      ),
    },
    ...(providers === undefined ? [] : [payroll]),
    {
      method: "GET",
      path: "/api/stream",
      guard: signedIn,
      answer: (request) => streamAnswer(events(auth.whenEnded(request))),
    },
    {
      method: "GET",
      path: "/stream.js",
      guard: undefined,
      answer: () =>
        fileAnswer("text/javascript; charset=utf-8", streamScript(hasSocket), "no-cache"),
    },
    {
      method: "GET",
      path: "/demo.css",
      guard: undefined,
      answer: () => fileAnswer("text/css; charset=utf-8", STYLE, "max-age=3600"),
    },
    {
      // Browsers request it by themselves.
      method: "GET",
      path: "/favicon.ico",
      guard: undefined,
      answer: () => ({ status: 204, headers: { "Cache-Control": "max-age=3600" }, body: "" }),
    },
  ];
}

/**
 * What a browser may see of a session. The issuer, the subject and the tokens stay on the server.
 */
function browserView({ user: { id: _subject, ...user }, claims, data }: DemoSession) {
  return { user, claims: { groups: groupsOf(claims) }, data };
}
