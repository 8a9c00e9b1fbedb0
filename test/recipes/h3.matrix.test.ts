import { testHandlerRecipe, witnessed } from "./handler-recipe.js";

// Needs a network for the first installation of test/recipes.

await testHandlerRecipe({
  framework: "h3-2",
  section: "h3 2",
  authFile: "auth.ts",
  change: (_, code) =>
    witnessed(code, "./ran.ts")
      .replace('app.get("/",', 'app.get("/ran", () => ran);\n$&')
      .replace("{ port:", '{ hostname: "127.0.0.1", port:'),
  serve: ["server.ts"],
});

await testHandlerRecipe({
  framework: "h3-1",
  section: "h3 1",
  authFile: "auth.ts",
  change: (_, code) =>
    witnessed(code, "./ran.ts")
      .replace('router.get("/",', 'router.get("/ran", defineEventHandler(() => ran));\n$&')
      .replace("?? 3000)", '$&, "127.0.0.1"'),
  serve: ["server.ts"],
});
