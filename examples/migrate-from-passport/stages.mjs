// Runs one stage of the migration at a time. Type the name of another one to replace it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

const STAGES = ["before", "side-by-side", "after"];

const env = {
  ...process.env,
  // The secret of express-session.
  SECRET: createHash("sha256").update(`old ${process.env.SECRET_KEY}`).digest("hex"),
  SIGN_IN_WITH: "idpauth",
};

let child;
async function deploy(stage) {
  if (child !== undefined && child.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  console.log(`Stage: ${stage}. For another one, type ${STAGES.join(", ")}, and press Enter.`);
  child = spawn(process.execPath, [`${stage}.mjs`], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
}

process.once("SIGTERM", () => {
  child?.kill("SIGTERM");
  lines.close();
});
const lines = createInterface({ input: process.stdin });
await deploy("before");
for await (const line of lines) if (STAGES.includes(line.trim())) await deploy(line.trim());
