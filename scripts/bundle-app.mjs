// Bundles the demo's single-page application, as an application with Vite and React does it.
import path from "node:path";
import { build } from "vite";
import { packageEntries } from "./entries.mjs";
import { root } from "./run.mjs";

/**
 * @param {string} folder gets index.html and assets/
 * @param {string} packageFolder the bundled package, from which `idpauth/client` and
 *   `idpauth/react` come
 */
export async function bundleApp(folder, packageFolder) {
  const entries = packageEntries().map(({ name, module }) => [
    name,
    path.join(packageFolder, `${module}.js`),
  ]);
  const files = [...entries];
  await build({
    configFile: false,
    root: path.join(root, "demo/app"),
    base: "/app/",
    mode: "production",
    logLevel: "warn",
    // The result is the same for each NODE_ENV, also for that of the tests: React's variant for
    // production.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    resolve: {
      alias: files.map(([name = "", replacement = ""]) => ({
        find: new RegExp(`^${name}$`),
        replacement,
      })),
    },
    build: {
      outDir: folder,
      emptyOutDir: true,
      // No `data:` address, which the policy would have to allow.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
      target: "es2022",
      rolldownOptions: {
        // "sideEffects" of package.json names files of dist/.
        treeshake: { moduleSideEffects: [{ test: /./, sideEffects: true }] },
        onLog(level, log, report) {
          // "use client" of idpauth/react is for servers that render.
          if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
        },
      },
    },
  });
}
