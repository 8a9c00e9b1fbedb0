import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attackRecipe } from "./attacks.js";
import {
  attacksOn,
  breachesBy,
  MARK,
  ranAt,
  reachedBy,
  signedOut,
  signInAt,
  type Attack,
} from "./hostile.js";
import { canRun, ORIGIN, PREPARATION, program, startRecipe, type RunningRecipe } from "./recipe.js";

// Needs a network for the first installation of test/recipes/react-router.

const FRAMEWORK = "react-router";
const installed = await canRun(FRAMEWORK);

const PATHS = attacksOn([
  "/members",
  "/members.data",
  "/members/_.data",
  "/members/report",
  "/members/report.data",
]);

const ROUTES = [
  "",
  "routes/members",
  "routes/home",
  "root",
  "routes/members-only",
  "routes/members,root",
  "routes/report",
  "root,routes/ran",
];
const DATA: readonly Attack[] = [
  ...[
    "/members.data",
    "//members.data",
    "/_root.data",
    "/_.data",
    "/ran.data",
    "/members/_.data",
    "/members/report.data",
    "/members.data.data",
  ]
    .flatMap((path) =>
      ROUTES.flatMap((route) =>
        [`_routes=${route}`, `_routes=${encodeURIComponent(route)}`, `index&_routes=${route}`].map(
          (query) => `${path}?${query}`,
        ),
      ),
    )
    .flatMap((target): Attack[] => [{ target }, { target, method: "POST", body: "name=x" }]),
  ...["/members", "/members?index", "/?index", "/", "//members", "/members/"].map(
    (target): Attack => ({
      target,
      method: "POST",
      body: "name=x",
    }),
  ),
];

describe.skipIf(!installed)("docs/how-to/fetch-frameworks.md, React Router", () => {
  let recipe: RunningRecipe;

  beforeAll(async () => {
    recipe = await startRecipe({
      framework: FRAMEWORK,
      section: "React Router",
      authFile: "app/auth.server.ts",
      // The application's own route, which tells the test what ran.
      change: (file, code) =>
        file === "app/routes.ts"
          ? code.replace("export default [", '$&\n  route("ran", "routes/ran.ts"),')
          : code,
      build: ["@react-router/dev", "build"],
      serve: [program(FRAMEWORK, "@react-router/serve"), "build/server/index.js"],
    });
  }, PREPARATION);
  afterAll(() => recipe.stop());

  it("serves and runs nothing of a guarded route for signed-out users, however they spell its path", async () => {
    expect(await breachesBy(recipe, PATHS)).toEqual([]);
  });

  it("runs no loader or action for signed-out users, whichever routes a request for data names", async () => {
    expect(await breachesBy(recipe, DATA)).toEqual([]);
  });

  it("sends a signed-out user's navigation, also a client-side one, to the login, and reports it to a script", async () => {
    const page = await signedOut(recipe).navigate("/members?month=10");
    expect([page.status, new URL(page.location!, ORIGIN).searchParams.get("origin_url")]).toEqual([
      302,
      `${ORIGIN}/members?month=10`,
    ]);
    const data = await signedOut(recipe).get("/members.data?month=10&_routes=routes%2Fmembers");
    expect([data.status, data.text]).toEqual([
      202,
      expect.stringContaining(
        `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: `${ORIGIN}/members?month=10` }).toString()}`,
      ),
    ]);
    const script = await signedOut(recipe).get("/members/report");
    expect([script.status, script.json().error]).toEqual([401, "login_required"]);
  });

  it("a signed-in user gets page, data, action and resource route; a refresh keeps the session", async () => {
    const user = await signInAt(recipe, "/members?month=10");
    const before = (await ranAt(recipe)).length;
    const page = await user.navigate("/members?month=10");
    expect([page.status, page.text]).toEqual([
      200,
      expect.stringContaining(`${MARK} for Ada Lovelace`),
    ]);
    expect((await user.get("/members.data")).text).toContain(MARK);
    expect(
      (
        await user.post("/members.data", new URLSearchParams({ name: "x" }), {
          headers: { origin: ORIGIN },
        })
      ).text,
    ).toContain(MARK);
    expect((await user.get("/members/report")).text).toContain(MARK);
    expect(
      (await user.post("/members/report", new URLSearchParams(), { headers: { origin: ORIGIN } }))
        .text,
    ).toContain(MARK);
    expect((await ranAt(recipe)).slice(before)).toEqual([
      "loader",
      "loader",
      "action",
      "report",
      "report action",
    ]);
    expect(await reachedBy(recipe, [...PATHS, ...DATA], user.cookie)).toEqual([
      "action",
      "loader",
      "report",
      "report action",
    ]);
    expect((await user.get("/idpauth/logout/?response=json")).json()).toEqual({
      status: "logged_out",
    });
    expect((await user.navigate("/members")).status).toBe(302);
  });

  attackRecipe(() => recipe, "/members");

  it("a configuration error stops the server when it starts", async () => {
    await expect(recipe.restart({ SECRET_KEY: "" })).rejects.toThrow(/E001/);
  });
});
