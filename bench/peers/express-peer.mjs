// What the peers have in common that are one Express application, app.mjs in their folder.
import { readFileSync } from "node:fs";
import path from "node:path";
import { needPackages } from "../../scripts/framework-install.mjs";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { root } from "../../scripts/run.mjs";
import { addedPackages } from "../compare/size.mjs";

const bareExpress = path.join(import.meta.dirname, "express-bare.mjs");

/** @typedef {import("../compare/peer.mjs").Peer} Peer */

/**
 * @param {object} settings
 * @param {string} settings.folder of the peer, with a package.json
 * @param {readonly string[]} settings.named the packages that its title names
 * @param {readonly string[]} settings.packages that its application installs for the sign-in
 * @param {Record<string, string>} [settings.env] of its application, in addition to the usual
 * @param {unknown} [settings.probe] the JSON that its probe sends
 * @returns {Pick<Peer, "framework" | "prepare" | "version" | "start" | "bare" | "size">}
 */
export function expressPeer({ folder, named, packages, env = {}, probe }) {
  return {
    framework: "Express 5",
    async prepare({ say }) {
      const name = path.relative(root, folder);
      say(`npm ci for ${name}`);
      await needPackages(name);
      return undefined;
    },
    version: () => named.map((name) => versionOf(folder, name)).join(" / "),
    start: ({ port, origin, issuer, clientId, clientSecret, redisUrl, apiUrl }) => [
      program(path.join(folder, "app.mjs"), port, {
        ORIGIN: origin,
        ISSUER: issuer,
        CLIENT_ID: clientId,
        CLIENT_SECRET: clientSecret,
        REDIS_URL: redisUrl,
        API_URL: apiUrl,
        ...env,
      }),
    ],
    bare: ({ port }) => [
      program(bareExpress, port, {
        FOLDER: folder,
        ...(probe !== undefined && { PROBE: JSON.stringify(probe) }),
      }),
    ],
    size: () => Promise.resolve(addedPackages(folder, packages, ["express"])),
  };
}

/** @param {string} folder @param {string} name @returns {string} */
function versionOf(folder, name) {
  const file = path.join(packageFolder(folder, name), "package.json");
  return JSON.parse(readFileSync(file, "utf8")).version;
}

/** @param {string} file @param {number} port @param {Record<string, string>} env */
function program(file, port, env) {
  return { command: process.execPath, args: [file], env: { PORT: String(port), ...env }, port };
}
