// The cost of the package before its first use: import time, and the packages that it installs.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { interleave, median, ratio } from "../rounds.mjs";
import { numberRow, ratioRow } from "../report.mjs";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../import-time.mjs", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

async function importTime(name) {
  const { stdout } = await run(process.execPath, [script, name], { cwd: root });
  return Number(stdout);
}

/**
 * Returns every package that an installation adds: the closure over `dependencies`, without
 * optional peers.
 */
function closure(manifestPath, found = new Map()) {
  const manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
  if (found.has(manifest.name)) return found;
  found.set(manifest.name, manifest.version);
  const { resolve } = createRequire(manifestPath);
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const folder = resolve
      .paths(name)
      .find((candidate) => exists(`${candidate}/${name}/package.json`));
    if (folder === undefined) throw new Error(`${name} is not installed`);
    closure(`${folder}/${name}/package.json`, found);
  }
  return found;
}

function exists(file) {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

export async function imports({ settings }) {
  const values = await interleave(
    {
      idpauth: () => importTime("idpauth/express"),
      "openid-client": () => importTime("openid-client"),
    },
    settings.importRounds,
  );
  const inExpress = closure(`${root}node_modules/express/package.json`);
  const added = [...closure(`${root}package.json`).keys()].filter((name) => !inExpress.has(name));
  const milliseconds = `${median(values.idpauth).toFixed(1)} ms against ${median(values["openid-client"]).toFixed(1)} ms`;
  return {
    values: { ...values, added },
    rows: [
      ratioRow(
        "Import time of idpauth/express / of openid-client alone",
        ratio(values.idpauth, values["openid-client"]),
        { atMost: 1.5 },
        milliseconds,
      ),
      numberRow(
        "Packages added to an Express application",
        added.length,
        { atMost: 4 },
        added.join(", "),
      ),
    ],
  };
}
