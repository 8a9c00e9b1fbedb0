import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attackRecipe } from "./attacks.js";
import { attacksOn, breachesBy, MARK, ranAt, reachedBy, signedOut, signInAt } from "./hostile.js";
import {
  canRun,
  ORIGIN,
  PREPARATION,
  startRecipe,
  type RecipeOptions,
  type RunningRecipe,
} from "./recipe.js";

// The recipes that guard one handler, /members/report, are tested alike.

const PATHS = attacksOn(["/members/report"]);

/** Puts into the guarded handler what tells the test that it ran. */
export function witnessed(code: string, ranFile: string): string {
  const witness = code.replace(
    "({ user: (await",
    '({ ran: ran.push("report"), secret: "MEMBERS ONLY", user: (await',
  );
  return witness === code ? code : `import { ran } from "${ranFile}";\n${witness}`;
}

export async function testHandlerRecipe(
  options: RecipeOptions,
  more?: (recipe: () => RunningRecipe) => void,
): Promise<void> {
  const installed = await canRun(options.framework);

  describe.skipIf(!installed)(`docs/how-to/fetch-frameworks.md, ${options.section}`, () => {
    let recipe: RunningRecipe;
    beforeAll(async () => {
      recipe = await startRecipe(options);
    }, PREPARATION);
    afterAll(() => recipe.stop());

    it("serves and runs nothing for signed-out users, however they spell the path", async () => {
      expect(await breachesBy(recipe, PATHS)).toEqual([]);
    });

    it("sends a signed-out user's navigation to the login, and reports it to a script", async () => {
      const page = await signedOut(recipe).navigate("/members/report?month=10");
      expect([page.status, new URL(page.location!, ORIGIN).searchParams.get("origin_url")]).toEqual(
        [302, `${ORIGIN}/members/report?month=10`],
      );
      const script = await signedOut(recipe).get("/members/report");
      expect([script.status, script.json().error]).toEqual([401, "login_required"]);
      expect((await signedOut(recipe).get("/")).text).toContain("Welcome.");
      expect((await signedOut(recipe).get("/elsewhere")).status).toBe(404);
    });

    it("a signed-in user reaches the handler; a refresh keeps the session", async () => {
      const user = await signInAt(recipe, "/members/report?month=10");
      const before = (await ranAt(recipe)).length;
      const report = await user.navigate("/members/report?month=10");
      expect([report.status, report.json()]).toEqual([
        200,
        expect.objectContaining({
          secret: MARK,
          user: expect.objectContaining({ name: "Ada Lovelace" }),
        }),
      ]);
      expect((await ranAt(recipe)).slice(before)).toEqual(["report"]);
      expect(await reachedBy(recipe, PATHS, user.cookie)).toEqual(["report"]);
      expect((await user.get("/idpauth/session")).json().authenticated).toBe(true);
      expect((await user.get("/idpauth/logout/?response=json")).json()).toEqual({
        status: "logged_out",
      });
      expect((await user.navigate("/members/report")).status).toBe(302);
    });

    more?.(() => recipe);

    attackRecipe(() => recipe, "/members/report");

    it("a configuration error stops the server when it starts", async () => {
      await expect(recipe.restart({ SECRET_KEY: "" })).rejects.toThrow(/E001/);
    });
  });
}
