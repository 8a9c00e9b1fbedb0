import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { choose, PEOPLE, type Person, type TestUser } from "../browser/test-user.js";
import { manifestOf } from "./example-process.js";
import { Migration, textOf } from "./migration.js";

// docs/migrate/passport.md shows these files, and says what users notice.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = "migrate-from-passport";
const PACKAGES = "bench/peers/passport-openid-client";
const NEW_SIGN_INS = { SIGN_IN_WITH: "idpauth" };
const [OLD_COOKIE, NEW_COOKIE] = ["connect.sid", "idpauth"];
const executablePath = await chromiumForTests();

it("depends on the versions that the project is tested with", () => {
  const { version, devDependencies } = manifestOf(ROOT);
  const { dependencies } = manifestOf(path.join(ROOT, PACKAGES));
  expect({ ...devDependencies, ...dependencies, idpauth: `^${version}` }).toMatchObject(
    manifestOf(path.join(ROOT, "examples", EXAMPLE)).dependencies ?? {},
  );
});

describe.skipIf(executablePath === undefined)("examples/" + EXAMPLE, () => {
  let migration: Migration;

  beforeAll(async () => {
    migration = (await Migration.prepare({
      example: EXAMPLE,
      packages: PACKAGES,
      provider: () => ["--token-seconds=2"],
      executablePath: executablePath!,
    }))!;
  });
  afterEach(() => migration.leave());
  afterAll(() => migration.stop());

  it("a user who signed in before doesn't notice the change, passes the provider once at a moved route, and stays signed in after it; the cart survives", async () => {
    await migration.deploy("before");
    const ada = await arriveWithTea("ada");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");

    await migration.deploy("side-by-side", NEW_SIGN_INS);
    expect(await migration.see(ada, "/orders")).toContain("A teapot for Ada Lovelace");
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));
    expect(await migration.cookies(ada)).toEqual([OLD_COOKIE]);
    const account = await migration.signIn(ada, "/account", "ada");
    expect(await textOf(account)).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/orders")).toContain("A teapot for Ada Lovelace");
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));

    await migration.deploy("after");
    expect(await migration.see(ada, "/account")).toContain("You are Ada Lovelace, user 1.");
    expect(await migration.see(ada, "/orders")).toContain("A teapot for Ada Lovelace");
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));
    await signOut(ada);
  });

  it("a user who signs in while both are mounted gets a session of the library that SIGN_IN_WITH names; a login that has begun ends", async () => {
    await migration.deploy("before");
    const early = await migration.arrive();
    const atProvider = await early.askFor("/orders");

    await migration.deploy("side-by-side");
    await choose(atProvider, "alan");
    expect(await textOf(atProvider)).toContain("A teapot for Alan Turing");
    expect(await migration.cookies(early)).toEqual([OLD_COOKIE]);
    const ada = await arriveWithTea("ada");
    expect(await migration.cookies(ada)).toEqual([OLD_COOKIE]);

    await migration.deploy("side-by-side", NEW_SIGN_INS);
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));
    const grace = await migration.arrive();
    await addTea(await grace.askFor("/"));
    await migration.signIn(grace, "/orders", "grace");
    expect(await migration.cookies(grace)).toEqual([OLD_COOKIE, NEW_COOKIE]);
    expect(await migration.see(grace, "/account")).toContain("You are Grace Hopper");
    expect(await migration.see(grace, "/")).toMatch(home("Grace Hopper", "tea"));

    const begun = await (await migration.arrive()).askFor("/orders");
    await migration.deploy("side-by-side");
    await choose(begun, "alan");
    expect(await textOf(begun)).toContain("A teapot for Alan Turing");
  });

  it("while both are mounted, a logout ends both sessions and empties the cart, and so does a different user", async () => {
    await migration.deploy("before");
    const [ada, alan] = [await arriveWithTea("ada"), await arriveWithTea("alan")];
    await migration.deploy("side-by-side", NEW_SIGN_INS);
    await signOut(alan);

    await migration.signIn(ada, "/account", "ada");
    await ada.askFor("/idpauth/logout/");
    expect(await migration.see(ada, "/")).toMatch(home(undefined, "empty"));

    await migration.deploy("before");
    const shared = await arriveWithTea("ada");
    await migration.deploy("side-by-side", NEW_SIGN_INS);
    await migration.signIn(shared, "/account", "grace");
    expect(await migration.see(shared, "/")).toMatch(home("Grace Hopper", "empty"));
    await signOut(shared);
  });

  it("the way back: users of idpauth sign in again when it's gone, and users with an old session don't; a login that has begun starts again; the cart survives", async () => {
    await migration.deploy("before");
    const ada = await arriveWithTea("ada");
    const begun = await (await migration.arrive()).askFor("/orders");
    await migration.deploy("after");
    expect(await migration.see(ada, "/")).toMatch(home(undefined, "tea"));
    const first = begun.url();
    await begun.getByRole("button", { name: PEOPLE.alan }).click();
    await begun.waitForURL(({ href }) => href !== first);
    migration.expectAtProvider(begun);
    await choose(begun, "alan");
    expect(await textOf(begun)).toMatch(home("Alan Turing", "empty"));
    const grace = await arriveWithTea("grace");

    await migration.deploy("side-by-side");
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));
    expect(await migration.see(grace, "/")).toMatch(home("Grace Hopper", "tea"));

    await migration.deploy("before");
    expect(await migration.see(ada, "/")).toMatch(home("Ada Lovelace", "tea"));
    expect(await migration.see(grace, "/")).toMatch(home(undefined, "tea"));
    await migration.signIn(grace, "/orders", "grace");
    expect(await migration.see(grace, "/")).toMatch(home("Grace Hopper", "tea"));
    await signOut(grace);

    await migration.deploy("side-by-side", { IDP_SESSIONS_NOT_BEFORE: new Date().toISOString() });
    expect(await migration.see(grace, "/")).toMatch(home(undefined, "empty"));
    expect(await migration.see(ada, "/orders")).toContain("A teapot for Ada Lovelace");
  });

  it("on the way back, nobody is shown a different user's account or cart", async () => {
    await migration.deploy("side-by-side", NEW_SIGN_INS);
    const alan = await arriveWithTea("alan");
    await migration.deploy("before");
    await migration.signIn(alan, "/orders", "grace");

    // A fraction of a second counts as the next second, and a time in the future is E022.
    const restart = async () => {
      const at = Math.ceil(Date.now() / 1000) * 1000;
      await new Promise((resolve) => setTimeout(resolve, at + 5 - Date.now()));
      return { IDP_SESSIONS_NOT_BEFORE: new Date(at).toISOString() };
    };
    await migration.deploy("side-by-side", await restart());
    expect(await migration.see(alan, "/")).toMatch(home("Grace Hopper", "empty"));
    const ada = await migration.arrive();
    await addTea(await migration.signIn(ada, "/account", "ada"));
    const changing = await ada.askFor("/login");
    await choose(changing, "grace");
    expect(await textOf(changing)).toMatch(home("Grace Hopper", "empty"));

    const shared = await migration.arrive();
    const begun = await shared.askFor("/orders");
    await addTea(await migration.signIn(shared, "/account", "ada"));
    const first = begun.url();
    await begun.getByRole("button", { name: PEOPLE.grace }).click();
    await begun.waitForURL(({ href }) => href !== first);
    await choose(begun, "grace");
    expect(await textOf(begun)).toContain("You are signed in as ada@example.com.");
    expect(await migration.see(shared, "/")).toMatch(home("Ada Lovelace", "tea"));

    await migration.deploy("side-by-side", await restart());
    expect(await migration.see(shared, "/")).toMatch(home(undefined, "empty"));
  });

  /** The text of the home page. */
  function home(name: string | undefined, cart: string): RegExp {
    return new RegExp(`You are ${name ?? "signed out"}\\..*Your cart: ${cart}$`, "ms");
  }

  /** A user who has signed in, and has tea in the cart. */
  async function arriveWithTea(person: Person): Promise<TestUser> {
    const user = await migration.arrive();
    await addTea(await migration.signIn(user, "/orders", person));
    return user;
  }

  async function addTea(tab: Page): Promise<void> {
    await tab.getByRole("link", { name: "Home" }).click();
    await tab.getByRole("button", { name: "Add tea" }).click();
    await tab.getByText("Your cart: tea").waitFor();
  }

  async function signOut(user: TestUser): Promise<void> {
    const tab = await user.askFor("/");
    await tab.getByRole("link", { name: "Sign out" }).click();
    await tab.getByText("You are signed out.").waitFor();
    expect(await migration.see(user, "/")).toMatch(home(undefined, "empty"));
    migration.expectAtProvider(await user.askFor("/orders"));
  }
});
