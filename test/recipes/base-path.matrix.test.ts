import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attacksOn, breachesBy, MARK, signedOut, signInAt } from "./hostile.js";
import { witnessed } from "./handler-recipe.js";
import {
  canRun,
  ORIGIN,
  PREPARATION,
  program,
  startRecipe,
  type RecipeOptions,
  type RunningRecipe,
} from "./recipe.js";

// The recipes in an application that runs below a base path. Needs what the frameworks' own test
// files need.

const BASE = "/app";

const RECIPES: readonly (RecipeOptions & { readonly page: string })[] = [
  {
    framework: "sveltekit",
    section: "SvelteKit",
    authFile: "src/lib/server/auth.ts",
    build: ["vite", "build"],
    serve: ["build/index.js"],
    env: { PROTOCOL_HEADER: "x-forwarded-proto" },
    page: "/members",
  },
  {
    framework: "react-router",
    section: "React Router",
    authFile: "app/auth.server.ts",
    change: (file, code) =>
      file === "app/routes.ts"
        ? code.replace("export default [", '$&\n  route("ran", "routes/ran.ts"),')
        : code,
    build: ["@react-router/dev", "build"],
    serve: ["SERVE", "build/server/index.js"],
    page: "/members",
  },
  {
    framework: "astro",
    section: "Astro",
    authFile: "src/auth.ts",
    build: ["astro", "build"],
    serve: ["dist/server/entry.mjs"],
    page: "/members",
  },
  {
    framework: "nitro2",
    section: "Nitro 2",
    authFile: "server/auth.ts",
    change: (file, code) => (file.includes("server/routes/") ? witnessed(code, "../../ran") : code),
    build: ["nitropack", "build"],
    serve: [".output/server/index.mjs"],
    page: "/members/report",
  },
];

for (const { page, ...options } of RECIPES) {
  const installed = await canRun(options.framework);

  describe.skipIf(!installed)(
    `docs/how-to/fetch-frameworks.md, ${options.section} below ${BASE}`,
    () => {
      let recipe: RunningRecipe;
      beforeAll(async () => {
        const serve = options.serve.map((part) =>
          part === "SERVE" ? program(options.framework, "@react-router/serve") : part,
        );
        recipe = await startRecipe({ ...options, serve, base: BASE });
      }, PREPARATION);
      afterAll(() => recipe.stop());

      it("serves and runs nothing for signed-out users; the login comes back to the page", async () => {
        expect(
          await breachesBy(
            recipe,
            attacksOn([BASE + page, page, `/${BASE}${page}`, `${BASE}${BASE}${page}`]),
          ),
        ).toEqual([]);
        const blocked = await signedOut(recipe).navigate(BASE + page);
        expect([blocked.status, new URL(blocked.location!, ORIGIN).pathname]).toEqual([
          302,
          `${BASE}/idpauth/login/`,
        ]);
        const user = await signInAt(recipe, BASE + page);
        expect((await user.navigate(BASE + page)).text).toContain(MARK);
      });
    },
  );
}
