// Builds the package into an empty dist/, so that no file of an earlier build is published. The compiler writes the types,
// and, for the project's own scripts, each module by itself into build/. What is published is bundled: a process loads a
// handful of files in a third of the time that some sixty take. The provider stays a file of its own, loaded when needed.
import { chmodSync, rmSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import { root, tool } from "./run.mjs";

/** Stays in the file of its own entry although another one, such as the command line, loads it too: whoever does not use it must not load it. */
const OWN_FILES = /\/src\/(?:provider\/|stores\/(?:postgres|redis|sqlite))/;

for (const folder of ["build", "dist"]) rmSync(path.join(root, folder), { recursive: true, force: true });
process.exitCode = tool("typescript/bin/tsc", ["-p", "tsconfig.build.json"]);
if (process.exitCode === 0) await bundle();

async function bundle() {
  const bundled = await rolldown({
    cwd: root,
    input: {
      index: "src/index.ts",
      "hosts/express": "src/hosts/express.ts",
      "hosts/fastify": "src/hosts/fastify.ts",
      "hosts/fetch": "src/hosts/fetch.ts",
      "hosts/hono": "src/hosts/hono.ts",
      "hosts/koa": "src/hosts/koa.ts",
      "hosts/next": "src/hosts/next.ts",
      "hosts/node": "src/hosts/node.ts",
      "stores/sqlite": "src/stores/sqlite.ts",
      "stores/redis": "src/stores/redis.ts",
      "stores/postgres": "src/stores/postgres.ts",
      "testing/index": "src/testing/index.ts",
      "cli/idpauth": "src/cli/idpauth.ts",
    },
    // Packages and Node's own modules; what begins with a dot or a slash is ours.
    external: /^[a-z@]/,
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts"] } },
    // The paths in it are for the demo and the tests.
    tsconfig: false,
  });
  await bundled.write({
    dir: path.join(root, "dist"),
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    codeSplitting: { groups: [{ name: "shared", test: (id) => !OWN_FILES.test(id), minShareCount: 2 }] },
  });
  await bundled.close();
  chmodSync(path.join(root, "dist/cli/idpauth.js"), 0o755);
}
