import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import {
  startDevelopmentProvider,
  type DevelopmentProvider,
} from "../../scripts/start-installed-provider.mjs";
import { installFramework } from "../../scripts/framework-install.mjs";
import { choose, PEOPLE, TestUser, type Person } from "../browser/test-user.js";
import { launchChromium } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { ExampleProcess, installExampleOf, PackedPackage } from "./example-process.js";

// What the tests of examples/migrate-from-* have in common.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The scripts of an example's manifest, in the order in which a team deploys them. */
export type Stage = "before" | "side-by-side" | "after";

export interface MigrationOptions {
  /** The folder below examples/. */
  readonly example: string;
  /**
   * A folder whose package.json asks for the old library, and all that the example and idpauth depend
   * on, from the project's root.
   */
  readonly packages: string;
  /** Options of `idpauth provider`, for the application's origin. */
  readonly provider?: (origin: string) => readonly string[];
  /** Chromium's executable. */
  readonly executablePath: string;
}

/**
 * An application that a team moves to idpauth: one origin, one port, one development provider, and
 * one process at a time, which the next stage replaces.
 */
export class Migration {
  readonly origin: string;
  readonly provider: DevelopmentProvider;
  readonly #folder: string;
  readonly #packed: PackedPackage;
  readonly #browser: Browser;
  readonly #users: TestUser[] = [];
  #running: ExampleProcess | undefined;

  private constructor(
    origin: string,
    parts: {
      provider: DevelopmentProvider;
      folder: string;
      packed: PackedPackage;
      browser: Browser;
    },
  ) {
    this.origin = origin;
    this.provider = parts.provider;
    this.#folder = parts.folder;
    this.#packed = parts.packed;
    this.#browser = parts.browser;
  }

  /** Undefined: npm can't reach its registry, and the tests are to be skipped. */
  static async prepare(options: MigrationOptions): Promise<Migration | undefined> {
    const { example, packages, provider = () => [], executablePath } = options;
    const folderOfPackages = path.join(ROOT, packages);
    if (!(await installFramework(folderOfPackages))) return undefined;
    const packed = await PackedPackage.pack();
    const source = path.join(ROOT, "examples", example);
    const folder = installExampleOf(folderOfPackages, source, packed);
    const origin = `http://localhost:${String(await freePort())}`;
    return new Migration(origin, {
      provider: await startDevelopmentProvider(folder, provider(origin)),
      folder,
      packed,
      browser: await launchChromium(executablePath),
    });
  }

  /**
   * Ends the running stage as a platform does, and starts another one on the same port.
   * @param env in addition to the settings of both libraries
   */
  async deploy(stage: Stage, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const ended = await this.#running?.terminate();
    if (ended !== undefined) expect(ended).toMatchObject({ code: 0, stderr: "" });
    const { env: settings } = this.provider;
    this.#running = new ExampleProcess(
      this.#folder,
      {
        ...settings,
        // The names of settings that old libraries use.
        ISSUER_BASE_URL: this.provider.issuer,
        CLIENT_ID: settings["IDP_CLIENT_ID"] ?? "",
        CLIENT_SECRET: settings["IDP_CLIENT_SECRET"] ?? "",
        SECRET: OLD_SECRET,
        BASE_URL: this.origin,
        PORT: new URL(this.origin).port,
        ...env,
      },
      stage,
    );
    expect(await this.#running.origin()).toBe(this.origin);
  }

  /** A user with a browser profile of their own. */
  async arrive(): Promise<TestUser> {
    const user = await TestUser.arrive(this.#browser, this.origin);
    this.#users.push(user);
    return user;
  }

  /** Opens a page that sends the user to the provider, and chooses the person there. */
  async signIn(user: TestUser, at: string, person: Person): Promise<Page> {
    const tab = await user.askFor(at);
    this.expectAtProvider(tab);
    await choose(tab, person);
    expect(pathOf(tab)).toBe(at);
    return tab;
  }

  expectAtProvider(tab: Page): void {
    expect(new URL(tab.url()).origin).toBe(this.provider.issuer);
  }

  /** Opens a page of the application that the user sees at once, and returns its text. */
  async see(user: TestUser, at: string): Promise<string> {
    user.asked.delete(this.provider.issuer);
    const tab = await user.askFor(at);
    expect(user.asked.has(this.provider.issuer), `${at} leads to the provider`).toBe(false);
    expect(pathOf(tab)).toBe(at);
    return textOf(tab);
  }

  /** The names of the browser's cookies for the application. */
  async cookies(user: TestUser): Promise<string[]> {
    return (await user.context.cookies(this.origin)).map(({ name }) => name).sort();
  }

  /**
   * Ends a person's session at the provider, as an administrator does. Returns what the provider
   * says about the application's response to the logout token.
   */
  async endSessionAtProvider(administrator: TestUser, person: Person): Promise<string> {
    const tab = await administrator.tab();
    await tab.goto(this.provider.issuer);
    await tab.getByRole("button", { name: `End the session of ${PEOPLE[person]}` }).click();
    return tab.getByRole("status").innerText();
  }

  /** Forgets all users. The process goes on. */
  async leave(): Promise<void> {
    for (const user of this.#users.splice(0)) await user.leave();
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.#running?.end();
    await this.provider.stop();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#packed.remove();
  }
}

const OLD_SECRET = randomBytes(32).toString("base64url");

export function textOf(tab: Page): Promise<string> {
  return tab.locator("body").innerText();
}

function pathOf(tab: Page): string {
  const { pathname, search } = new URL(tab.url());
  return pathname + search;
}
