import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../../scripts/run.mjs";

const run = promisify(execFile);

it("npm run compare sends idpauth through a race, a logout and two tabs", async () => {
  const { stdout } = await run(
    process.execPath,
    [
      "bench/compare/run.mjs",
      "idpauth",
      "--only=situations",
      "--situation=race-200-two,logout,two-tabs",
    ],
    { cwd: root },
  );
  expect(stdout).toMatch(/ race-200-two +600 × 200 \| 1, 1, 1 \| signed in$/m);
  expect(stdout).toMatch(/ logout +\S+ \| 1 \| signed out; the new tokens are revoked$/m);
  expect(stdout).toMatch(/ two-tabs +first tab 200, second tab 200 \| 0 \| signed in$/m);
});

it("a name that isn't a peer's is an error that lists the peers", async () => {
  await expect(
    run(process.execPath, ["bench/compare/run.mjs", "nobody"], { cwd: root }),
  ).rejects.toThrow('There is no peer "nobody". The peers are idpauth, ');
});
