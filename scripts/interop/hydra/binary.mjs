// Gets Ory Hydra: the binary that HYDRA names, or one built from the pinned Go module.
import { existsSync } from "node:fs";
import { goProgram, pinnedVersion } from "../go-program.mjs";

const MODULE = "github.com/ory/hydra/v2";

/** The version that go.mod pins. */
export const VERSION = pinnedVersion(import.meta.dirname, MODULE);

const built = goProgram({
  name: "hydra",
  title: `Hydra ${VERSION}`,
  folder: import.meta.dirname,
  module: MODULE,
  flags: ["-tags=sqlite,json1", `-ldflags=-s -w -X ${MODULE}/driver/config.Version=v${VERSION}`],
});

/** @returns {Promise<string | undefined>} why Hydra can't run here, and how to get it */
export async function whatIsMissing() {
  const { HYDRA } = process.env;
  if (HYDRA !== undefined)
    return existsSync(HYDRA) ? undefined : `HYDRA is ${HYDRA}, which doesn't exist.`;
  const missing = await built.missing();
  return missing && `${missing} Or set HYDRA to the path of a hydra ${VERSION} binary with SQLite.`;
}

/** @returns {Promise<string>} the path of the binary, which is built if it isn't there */
export async function hydraBinary() {
  return process.env["HYDRA"] ?? built.binary();
}
