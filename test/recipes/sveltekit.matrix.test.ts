import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
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
import { canRun, ORIGIN, PREPARATION, startRecipe, type RunningRecipe } from "./recipe.js";

// Needs a network for the first installation of test/recipes/sveltekit.

const FRAMEWORK = "sveltekit";
const installed = await canRun(FRAMEWORK);

const PATHS = attacksOn(["/members", "/members/__data.json", "/members/data"]);

const ACTIONS = [
  "/members?/rename",
  "//members?/rename",
  "/members/?/rename",
  "/?/rename",
  "/members/__data.json?/rename",
].flatMap((target) =>
  [{}, { "x-sveltekit-action": "true", accept: "application/json" }].map((headers): Attack => ({
    method: "POST",
    target,
    body: "name=x",
    headers,
  })),
);

/** @param module `HASH/` of the module with the remote functions */
function callsOf(module: string): Attack[] {
  const json = { "content-type": "application/json" };
  // The browser says which page it is on. SvelteKit believes it.
  const pages = [
    {},
    ...["/", "/ran", "/members", "//members"].map((page) => ({ "x-sveltekit-pathname": page })),
  ];
  return ["numbers", "remind", "rename", "forgottenQuery", "forgottenForm"].flatMap((name) => {
    const target = `/_app/remote/${module}${name}`;
    const calls = pages.flatMap((page): Attack[] => [
      { target, headers: page },
      { target, headers: { ...page, "sec-fetch-mode": "navigate", accept: "text/html" } },
      { target: `/${target}`, headers: page },
      { target: target.replace("remote", "%72emote"), headers: page },
      {
        target,
        method: "POST",
        headers: { ...page, ...json },
        body: '{"payload":"","refreshes":[]}',
      },
      { target, method: "POST", headers: page },
    ]);
    const forms = ["/", "/careless", "/members"].flatMap((page) =>
      ["/remote", "%2Fremote", "%2fremot%65"].map((key): Attack => ({
        target: `${page}?${key}=${encodeURIComponent(module + name)}`,
        method: "POST",
      })),
    );
    return [...calls, ...forms];
  });
}

describe.skipIf(!installed)("docs/how-to/fetch-frameworks.md, SvelteKit", () => {
  let recipe: RunningRecipe;
  /** `HASH/` of the module with the remote functions, out of what browsers get. */
  let remotes: string;

  beforeAll(async () => {
    recipe = await startRecipe({
      framework: FRAMEWORK,
      section: "SvelteKit",
      authFile: "src/lib/server/auth.ts",
      build: ["vite", "build"],
      serve: ["build/index.js"],
      env: { PROTOCOL_HEADER: "x-forwarded-proto" },
    });
    const client = path.join(recipe.folder, "build/client/_app/immutable");
    const files = readdirSync(client, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".js"),
    );
    const [, hash = ""] =
      /["'`](\w+)\/numbers["'`]/.exec(
        files.map((file) => readFileSync(path.join(client, file), "utf8")).join("\n"),
      ) ?? [];
    remotes = `${hash}/`;
  }, PREPARATION);
  afterAll(() => recipe.stop());

  it("serves and runs nothing of a guarded route for signed-out users, however they spell its path", async () => {
    expect(await breachesBy(recipe, PATHS)).toEqual([]);
  });

  it("runs no form action for signed-out users", async () => {
    expect(await breachesBy(recipe, ACTIONS)).toEqual([]);
  });

  it("runs no remote function for signed-out users: neither by its own address, nor by a form on a public page, nor while a public page renders", async () => {
    expect(await breachesBy(recipe, [...callsOf(remotes), { target: "/careless" }])).toEqual([]);
  });

  it("sends a signed-out user's navigation, also a client-side one, to the login", async () => {
    const page = await signedOut(recipe).navigate("/members?month=10");
    expect([page.status, new URL(page.location!, ORIGIN).searchParams.get("origin_url")]).toEqual([
      302,
      `${ORIGIN}/members?month=10`,
    ]);
    const data = (await signedOut(recipe).get("/members/__data.json?month=10")).json() as {
      type: string;
      location: string;
    };
    expect(data.type).toBe("redirect");
    expect(new URL(data.location, ORIGIN).searchParams.get("origin_url")).toBe(
      `${ORIGIN}/members?month=10`,
    );
  });

  it("a signed-in user gets page, data, action, endpoint and remote functions; a refresh keeps the session", async () => {
    const user = await signInAt(recipe, "/members?month=10");
    const before = (await ranAt(recipe)).length;
    const page = await user.navigate("/members?month=10");
    expect([page.status, page.text]).toEqual([
      200,
      expect.stringContaining(`${MARK} for Ada Lovelace`),
    ]);
    expect((await user.get("/members/__data.json")).text).toContain(MARK);
    const form = { origin: ORIGIN, accept: "application/json", "x-sveltekit-action": "true" };
    expect(
      (await user.post("/members?/rename", new URLSearchParams({ name: "x" }), { headers: form }))
        .text,
    ).toContain(MARK);
    expect((await user.get("/members/data")).text).toContain(MARK);
    expect((await user.get(`/_app/remote/${remotes}numbers`)).text).toContain("for Ada Lovelace");
    expect(
      (
        await user.post(
          `/_app/remote/${remotes}remind`,
          { payload: "", refreshes: [] },
          { headers: { origin: ORIGIN } },
        )
      ).text,
    ).toContain("for Ada");
    const posted = await user.post(
      `/members?/remote=${encodeURIComponent(remotes)}rename`,
      new URLSearchParams(),
      {
        headers: { origin: ORIGIN, accept: "text/html" },
      },
    );
    expect(posted.status).toBeLessThan(400);
    expect((await ranAt(recipe)).slice(before)).toEqual([
      "load",
      "load",
      "action",
      "endpoint",
      "query",
      "command",
      "form",
      "load",
    ]);
    expect((await user.navigate("/careless")).text).toContain("for Ada Lovelace");
    const everything = [
      "action",
      "command",
      "endpoint",
      "forgotten form",
      "forgotten query",
      "form",
      "load",
      "query",
    ];
    expect(
      await reachedBy(recipe, [...PATHS, ...ACTIONS, ...callsOf(remotes)], user.cookie),
    ).toEqual(everything);
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
