import { testHandlerRecipe, witnessed } from "./handler-recipe.js";
import { program } from "./recipe.js";

// Needs a network for the first installation of test/recipes.

await testHandlerRecipe({
  framework: "bun",
  section: "Bun.serve",
  authFile: "auth.ts",
  change: (_, code) =>
    witnessed(code, "./ran.ts")
      .replace('"/": ', '"/ran": () => Response.json(ran),\n    $&')
      .replace("port:", 'hostname: "127.0.0.1",\n  port:'),
  runtime: program("bun", "bun"),
  serve: ["run", "server.ts"],
});

await testHandlerRecipe({
  framework: "deno",
  section: "Deno.serve",
  authFile: "auth.ts",
  change: (_, code) =>
    witnessed(code, "./ran.ts")
      .replace(
        "const routes = [",
        '$&\n  { pattern: new URLPattern({ pathname: "/ran" }), handler: () => Response.json(ran) },',
      )
      .replace("{ port:", '{ hostname: "127.0.0.1", port:'),
  runtime: program("deno", "deno"),
  serve: ["run", "--quiet", "--allow-all", "--no-check", "server.ts"],
});
