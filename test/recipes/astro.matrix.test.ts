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

// Needs a network for the first installation of test/recipes/astro.

const FRAMEWORK = "astro";
const installed = await canRun(FRAMEWORK);

const PATHS = attacksOn(["/members", "/members/report", "/members/x", "/moved"]);

const JSON_BODY = { headers: { "content-type": "application/json" }, body: "{}" };
const NAMES = [
  "rename",
  "send",
  "members.remind",
  "%72ename",
  "members%2Eremind",
  "m%65mbers.remind",
  "x/_actions/rename",
  "rename/",
];
const ACTIONS = NAMES.flatMap((name): Attack[] => [
  ...[
    `/_actions/${name}`,
    `//_actions/${name}`,
    `/_%61ctions/${name}`,
    `/x/../_actions/${name}`,
    `/idpauth/../_actions/${name}`,
    `/_actions/${name}?x`,
  ].flatMap((target): Attack[] => [
    { target },
    { target, method: "POST" },
    { target, method: "POST", ...JSON_BODY },
  ]),
  ...[
    "/",
    "//",
    "/ran",
    "/members",
    "/idpauth/session",
    "/nowhere",
    "/_server-islands/Report",
  ].flatMap((page): Attack[] => [
    { target: `${page}?_action=${name}`, method: "POST" },
    { target: `${page}?_%61ction=${encodeURIComponent(name)}`, method: "POST" },
    { target: `${page}?x&_action=${name}`, method: "POST", ...JSON_BODY },
  ]),
]);

describe.skipIf(!installed)("docs/how-to/fetch-frameworks.md, Astro", () => {
  let recipe: RunningRecipe;

  beforeAll(async () => {
    recipe = await startRecipe({
      framework: FRAMEWORK,
      section: "Astro",
      authFile: "src/auth.ts",
      build: ["astro", "build"],
      serve: ["dist/server/entry.mjs"],
    });
  }, PREPARATION);
  afterAll(() => recipe.stop());

  /** The island's address, with what Astro encrypted into it for a signed-in user. */
  const islandIn = (page: string) =>
    /\/_server-islands\/[^"'`\s]+/.exec(page.replaceAll("&amp;", "&"))?.[0] ?? "no island";

  const islands = (address: string): Attack[] => {
    const at = address.replace("/_server-islands", "");
    return [
      "/_server-islands",
      "//_server-islands",
      "/_server%2dislands",
      "/x/../_server-islands",
      "/_server-islands/.",
    ].flatMap((path) => [
      { target: path + at },
      { target: path + at, headers: { "sec-fetch-mode": "navigate", accept: "text/html" } },
    ]);
  };

  it("serves and runs nothing of a guarded route for signed-out users, however they spell its path", async () => {
    expect(await breachesBy(recipe, PATHS)).toEqual([]);
  });

  it("runs no action for signed-out users: neither by its own address, nor by a form on a public page", async () => {
    expect(await breachesBy(recipe, ACTIONS)).toEqual([]);
  });

  it("renders no server island for signed-out users, not even at an address that was made for a signed-in user", async () => {
    const user = await signInAt(recipe, "/members");
    const address = islandIn((await user.navigate("/members")).text);
    expect(await breachesBy(recipe, islands(address))).toEqual([]);
    expect(await reachedBy(recipe, islands(address), user.cookie)).toEqual(["island"]);
  });

  it("sends a signed-out user's navigation to the login, and reports it to a script", async () => {
    const page = await signedOut(recipe).navigate("/members?month=10");
    expect([page.status, new URL(page.location!, ORIGIN).searchParams.get("origin_url")]).toEqual([
      302,
      `${ORIGIN}/members?month=10`,
    ]);
    const script = await signedOut(recipe).get("/members/report");
    expect([script.status, script.json().error]).toEqual([401, "login_required"]);
    expect((await signedOut(recipe).navigate("/")).text).toContain("Public");
  });

  it("a signed-in user gets page, endpoint, actions and island; a refresh keeps the session", async () => {
    const user = await signInAt(recipe, "/members?month=10");
    const before = (await ranAt(recipe)).length;
    const page = await user.navigate("/members?month=10");
    expect([page.status, page.text]).toEqual([
      200,
      expect.stringContaining(`${MARK} for Ada Lovelace`),
    ]);
    expect((await user.get(islandIn(page.text))).text).toContain(MARK);
    expect((await user.get("/members/report")).text).toContain(MARK);
    expect(
      (await user.post("/_actions/rename", {}, { headers: { origin: ORIGIN } })).text,
    ).toContain(MARK);
    expect(
      (
        await user.post("/members?_action=send", new URLSearchParams({ x: "1" }), {
          headers: { origin: ORIGIN },
        })
      ).status,
    ).toBe(200);
    expect((await ranAt(recipe)).slice(before)).toEqual([
      "page",
      "island",
      "endpoint",
      "action",
      "form action",
      "page",
    ]);
    const everything = [
      "action",
      "dynamic page",
      "endpoint",
      "form action",
      "nested action",
      "page",
    ];
    expect(await reachedBy(recipe, [...PATHS, ...ACTIONS], user.cookie)).toEqual(everything);
    expect((await user.get("/idpauth/logout/?response=json")).json()).toEqual({
      status: "logged_out",
    });
    expect((await user.navigate("/members")).status).toBe(302);
  });

  attackRecipe(() => recipe, "/members");
});
