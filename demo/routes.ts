import type { Credentials, UserPayload } from "idpauth";
import { fileAnswer, jsonAnswer, pageAnswer, type DemoAnswer } from "./answers.js";
import { mountPath, type Environment } from "./configuration.js";
import { homePage, reportsPage, REPORTS } from "./pages.js";
import { STYLE } from "./style.js";
import { fetchUserinfo } from "./userinfo.js";

/** The accessors of any adapter. */
export interface Accessors<FrameworkRequest> {
  getUser(request: FrameworkRequest): Promise<UserPayload | null>;
  getCredentials(request: FrameworkRequest): Promise<Credentials | null>;
}

/** One GET route of the demo; each framework adds its own guard to guarded routes. */
export interface DemoRoute<FrameworkRequest> {
  readonly path: string;
  readonly isGuarded: boolean;
  /** Rejections go to the framework's error handler. */
  answer(request: FrameworkRequest): DemoAnswer | Promise<DemoAnswer>;
}

/** The routes of the demo, the same for every framework. */
export function demoRoutes<FrameworkRequest>(env: Environment, auth: Accessors<FrameworkRequest>): readonly DemoRoute<FrameworkRequest>[] {
  const mounted = mountPath(env);
  return [
    {
      path: "/",
      isGuarded: false,
      answer: () => pageAnswer(200, homePage(mounted)),
    },
    {
      path: "/reports",
      isGuarded: true,
      async answer(request) {
        const user = await auth.getUser(request);
        return pageAnswer(200, reportsPage(mounted, user), { picture: user?.picture });
      },
    },
    {
      path: "/api/reports",
      isGuarded: true,
      answer: async (request) => jsonAnswer(200, { user: await auth.getUser(request), reports: REPORTS }),
    },
    {
      path: "/api/userinfo",
      isGuarded: true,
      async answer(request) {
        const credentials = await auth.getCredentials(request);
        // The guard accepted the user a moment ago, but another tab may have signed out meanwhile.
        if (credentials === null) return jsonAnswer(401, { error: "login_required" });
        return jsonAnswer(200, await fetchUserinfo(env["IDP_ISSUER"], credentials.token));
      },
    },
    {
      path: "/demo.css",
      isGuarded: false,
      answer: () => fileAnswer("text/css; charset=utf-8", STYLE, "max-age=3600"),
    },
    {
      // Browsers ask for it unasked.
      path: "/favicon.ico",
      isGuarded: false,
      answer: () => ({ status: 204, headers: { "Cache-Control": "max-age=3600" }, body: "" }),
    },
  ];
}
