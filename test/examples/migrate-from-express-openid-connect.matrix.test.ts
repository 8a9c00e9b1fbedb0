import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER } from "../support/chromium.js";
import { manifestOf } from "./example-process.js";
import { Migration } from "./migration.js";

// docs/migrate/express-openid-connect.md shows these files, and says what users notice.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = "migrate-from-express-openid-connect";
const PACKAGES = "bench/peers/express-openid-connect";
const executablePath = await chromiumForTests();

it("depends on the versions that the project is tested with", () => {
  const { version, devDependencies } = manifestOf(ROOT);
  const { dependencies } = manifestOf(path.join(ROOT, PACKAGES));
  expect({ ...dependencies, ...devDependencies, idpauth: `^${version}` }).toMatchObject(
    manifestOf(path.join(ROOT, "examples", EXAMPLE)).dependencies ?? {},
  );
});

describe.skipIf(executablePath === undefined)("examples/" + EXAMPLE, IN_A_BROWSER, () => {
  let migration: Migration;

  beforeAll(async () => {
    migration = (await Migration.prepare({
      example: EXAMPLE,
      packages: PACKAGES,
      own: ["better-sqlite3"],
      provider: (origin) => [
        "--token-seconds=2",
        `--backchannel-logout-uri=${origin}/backchannel-logout`,
      ],
      executablePath: executablePath!,
    }))!;
  });
  afterEach(() => migration.leave());
  afterAll(() => migration.stop());

  it("a user who signed in before stays signed in while both are mounted, and doesn't see the provider", async () => {
    await migration.deploy("before");
    const ada = await migration.arrive();
    await migration.signIn(ada, "/account", "ada");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/orders")).toContain("Spare parts for Ada Lovelace");

    await migration.deploy("side-by-side");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/admin")).toContain("You are Ada Lovelace, an administrator.");
    expect(await migration.see(ada, "/")).toContain("You are Ada Lovelace.");
    expect(await migration.cookies(ada)).toEqual(["appSession"]);
  });
});
