// What `idpauth check --live` finds at a server.
import { execFile } from "node:child_process";
import path from "node:path";
import { root } from "../../run.mjs";

/**
 * @param {Record<string, string>} env the application's settings
 * @returns {Promise<{ codes: string[], said: string, facts: Record<string, string> }>} `said`: the
 *   findings in words
 */
export function checkLive(env) {
  const program = path.join(root, "dist/cli/idpauth.js");
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, "check", "--live", "--json"],
      { env: { PATH: process.env["PATH"], ...env } },
      (_error, stdout, stderr) => {
        try {
          const { findings, facts } = JSON.parse(stdout);
          const codes = findings.map((/** @type {{ code: string }} */ { code }) => code);
          const said = findings
            .map(
              (/** @type {{ code: string, message: string }} */ one) =>
                `${one.code}: ${one.message}`,
            )
            .join(" ");
          resolve({ codes, said, facts });
        } catch {
          reject(new Error(`idpauth check printed no JSON: ${stderr || stdout}`));
        }
      },
    );
  });
}

/**
 * @param {import("../application/start.mjs").ApplicationOptions & { expectedCodes?: readonly string[] }} [options]
 *   `expectedCodes`: findings that this server gives whatever is set, with their reason on its page
 * @returns {import("../servers.mjs").Step}
 */
export function checkLiveStep({ expectedCodes = [], ...options } = {}) {
  return {
    key: "check-live",
    title: `\`idpauth check --live\` ${expectedCodes.length === 0 ? "finds nothing wrong" : `finds only ${expectedCodes.join(", ")}`}, and the provider accepts the client.`,
    run: (stage) =>
      stage.withApplication(options, async ({ env }) => {
        const { codes, facts } = await checkLive(env);
        const others = codes.filter((code) => !expectedCodes.includes(code));
        if (others.length > 0) return others.join(", ");
        return facts["client"] === "accepted" ? undefined : `client ${facts["client"]}`;
      }),
  };
}
