import { expect, it } from "vitest";
import { signedOut } from "./hostile.js";
import { testHandlerRecipe, witnessed } from "./handler-recipe.js";

// Needs a network for the first installation of test/recipes.

await testHandlerRecipe({
  framework: "nitro3",
  section: "Nitro 3",
  authFile: "server/auth.ts",
  change: (file, code) => (file.includes("/routes/") ? witnessed(code, "../../ran.ts") : code),
  build: ["nitro", "build"],
  serve: [".output/server/index.mjs"],
});

await testHandlerRecipe(
  {
    framework: "nitro2",
    section: "Nitro 2",
    authFile: "server/auth.ts",
    change: (file, code) => (file.includes("/routes/") ? witnessed(code, "../../ran") : code),
    build: ["nitropack", "build"],
    serve: [".output/server/index.mjs"],
  },
  (recipe) =>
    it("leaves the body to the application", async () => {
      const echo = await signedOut(recipe()).get("/echo", {
        method: "POST",
        body: '{"a":1}',
        headers: { "content-type": "application/json" },
      });
      expect(echo.json()).toEqual({ a: 1 });
    }),
);
