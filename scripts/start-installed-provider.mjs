// Runs `npx idpauth provider` of an installed package, for examples and their tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { parseEnv } from "node:util";

/**
 * @typedef {object} DevelopmentProvider
 * @property {string} issuer
 * @property {Readonly<Record<string, string>>} env the settings that it printed
 * @property {() => Promise<void>} stop
 */

/**
 * Starts the provider on a free port. It accepts every redirect URI on this machine.
 *
 * @param {string} folder the package is installed here
 * @param {readonly string[]} [options] of `idpauth provider`
 * @returns {Promise<DevelopmentProvider>}
 * @throws Error it ended at once
 */
export async function startDevelopmentProvider(folder, options = []) {
  const program = path.join(folder, "node_modules/idpauth/dist/cli/idpauth.js");
  const child = spawn(process.execPath, [program, "provider", "--port=0", ...options], {
    cwd: folder,
    env: { HOME: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += String(text);
    if (printed.includes("Ctrl+C ends the provider.")) {
      child.stdout.resume();
      const lines = printed.match(/^[A-Z_]+=.*$/gm) ?? [];
      const env = /** @type {Record<string, string>} */ (parseEnv(lines.join("\n")));
      return {
        issuer: env["IDP_ISSUER"] ?? "",
        env,
        async stop() {
          child.kill("SIGTERM");
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        },
      };
    }
  }
  throw new Error(`the provider ended: ${printed}`);
}
