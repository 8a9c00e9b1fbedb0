import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { choose, type TestUser } from "../browser/test-user.js";
import { chromiumForTests } from "../support/chromium.js";
import { manifestOf } from "./example-process.js";
import { Migration, textOf } from "./migration.js";

// docs/migrate/express-openid-connect.md shows these files, and says what users notice.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = "migrate-from-express-openid-connect";
const PACKAGES = "bench/peers/express-openid-connect";
const NEW_SIGN_INS = { SIGN_IN_WITH: "idpauth" };
const executablePath = await chromiumForTests();

it("depends on the versions that the project is tested with", () => {
  const { version, devDependencies } = manifestOf(ROOT);
  const { dependencies } = manifestOf(path.join(ROOT, PACKAGES));
  const example = manifestOf(path.join(ROOT, "examples", EXAMPLE));
  expect({ ...dependencies, ...devDependencies, idpauth: `^${version}` }).toMatchObject(
    example.dependencies ?? {},
  );
});

describe.skipIf(executablePath === undefined)("examples/" + EXAMPLE, () => {
  let migration: Migration;

  beforeAll(async () => {
    migration = (await Migration.prepare({
      example: EXAMPLE,
      packages: PACKAGES,
      provider: (origin) => [
        "--token-seconds=2",
        `--backchannel-logout-uri=${origin}/backchannel-logout`,
      ],
      executablePath: executablePath!,
    }))!;
  });
  afterEach(() => migration.leave());
  afterAll(() => migration.stop());

  it("a user who signed in before doesn't notice the change, passes the provider once at a moved route, and stays signed in after it", async () => {
    await migration.deploy("before");
    const ada = await migration.arrive();
    await migration.signIn(ada, "/account", "ada");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/orders")).toContain("Spare parts for Ada Lovelace");

    await migration.deploy("side-by-side", NEW_SIGN_INS);
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/admin")).toContain("You are Ada Lovelace, an administrator.");
    expect(await migration.see(ada, "/")).toContain("You are Ada Lovelace.");
    expect(await migration.cookies(ada)).toEqual(["appSession"]);
    const orders = await migration.signIn(ada, "/orders", "ada");
    expect(await textOf(orders)).toContain("Spare parts for Ada Lovelace");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.cookies(ada)).toEqual(["idpauth"]);

    await migration.deploy("after");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/orders")).toContain("Spare parts for Ada Lovelace");
  });

  it("a user who signs in while both are mounted gets a session of the library that SIGN_IN_WITH names, and a session of idpauth works with routes before and after they're moved", async () => {
    await migration.deploy("side-by-side");
    const alan = await migration.arrive();
    await migration.signIn(alan, "/account", "alan");
    expect(await migration.cookies(alan)).toEqual(["appSession"]);

    await migration.deploy("side-by-side", NEW_SIGN_INS);
    expect(await migration.see(alan, "/account")).toContain("You are Alan Turing");
    await chooseDarkTheme(alan);
    const ada = await migration.arrive();
    await migration.signIn(ada, "/account", "ada");
    expect(await migration.cookies(ada)).toEqual(["idpauth"]);
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/admin")).toContain("You are Ada Lovelace, an administrator.");
    expect(await migration.see(ada, "/orders")).toContain("Spare parts for Ada Lovelace");
    expect(await migration.see(ada, "/")).toContain("You are Ada Lovelace.");
    await chooseDarkTheme(ada);

    await migration.deploy("after");
    expect(await migration.see(ada, "/account")).toContain("Your theme is dark.");
    expect(await migration.see(ada, "/admin")).toContain("You are Ada Lovelace, an administrator.");
    const grace = await migration.arrive();
    await migration.signIn(grace, "/account", "grace");
    expect(await migration.see(grace, "/admin")).toContain("You are not allowed to open this page");
  });

  it("while both are mounted, a logout ends either session, and a logout at the provider ends both kinds", async () => {
    await migration.deploy("before");
    const before = await migration.arrive();
    await migration.signIn(before, "/account", "grace");
    const other = await migration.arrive();
    await migration.signIn(other, "/account", "alan");

    await migration.deploy("side-by-side", NEW_SIGN_INS);
    const during = await migration.arrive();
    await migration.signIn(during, "/account", "grace");
    const another = await migration.arrive();
    await migration.signIn(another, "/account", "ada");
    for (const user of [other, another]) {
      const tab = await user.askFor("/");
      await tab.getByRole("link", { name: "Sign out" }).click();
      await tab.getByText("You are signed out.").waitFor();
      expect(await migration.see(user, "/")).toContain("You are signed out.");
    }

    expect(await migration.endSessionAtProvider(another, "grace")).toContain("204");
    expect(await migration.see(before, "/")).toContain("You are signed out.");
    expect(await migration.see(during, "/")).toContain("You are signed out.");
  });

  it("the way back: users of idpauth sign in again when it's gone, and users with an old session don't, unless they opened a page in between; a user can change the account", async () => {
    await migration.deploy("before");
    const [early, away] = [await migration.arrive(), await migration.arrive()];
    await migration.signIn(early, "/account", "ada");
    await migration.signIn(away, "/account", "alan");

    await migration.deploy("after");
    migration.expectAtProvider(await early.askFor("/account"));
    expect(await migration.cookies(early)).toEqual(["idpauth"]);
    const grace = await migration.arrive();
    await migration.signIn(grace, "/account", "grace");

    await migration.deploy("side-by-side");
    expect(await migration.see(grace, "/account")).toContain("You are Grace Hopper");
    expect(await migration.see(away, "/account")).toContain("You are Alan Turing");
    const changing = await migration.arrive();
    await migration.signIn(changing, "/orders", "grace");
    await choose(await changing.askFor("/login"), "ada");
    expect(await migration.see(changing, "/account")).toContain("You are Ada Lovelace");

    await migration.deploy("before");
    expect(await migration.see(away, "/account")).toContain("You are Alan Turing");
    await migration.signIn(grace, "/account", "grace");
    expect(await migration.see(grace, "/orders")).toContain("Spare parts for Grace Hopper");
  });

  /** A route writes to the session. */
  async function chooseDarkTheme(user: TestUser): Promise<void> {
    const tab = await user.askFor("/account");
    expect(await textOf(tab)).toContain("Your theme is light.");
    await tab.getByRole("button", { name: "Dark theme" }).click();
    await tab.getByText("Your theme is dark.").waitFor();
  }
});
