import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { packPackage } from "../../scripts/pack-package.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { buildPackage } from "../support/build.js";
import { freePort } from "../support/free-port.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";

// The README as a newcomer follows it: in an empty folder, with the packed package.

const ROOT = path.resolve(import.meta.dirname, "../..");
/** The README, and the pages with the rest of what a newcomer copies. */
const PAGES = [
  "README.md",
  "docs/providers/index.md",
  "docs/reference/accessors.md",
  "docs/reference/endpoints.md",
  "docs/how-to/sessions.md",
].map((file) => readFileSync(path.join(ROOT, file), "utf8"));
// What a file of docs/snippets/ has is tested there.
const README = PAGES.join("\n").replace(/^<!-- snippet: .*? -->\n+```\w+\n.*?^```$/gms, "");
const run = promisify(execFile);

/** What the reader puts in the place of the `.env` block's key. */
const KEY = randomBytes(32).toString("base64url");

/** What the README installs, and what a TypeScript project has besides. */
const PACKAGES = ["express", "@types/express", "@types/node@22"];

interface Block {
  readonly language: string;
  readonly text: string;
  /** The line before it, where it is the name of a file. */
  readonly file: string | undefined;
}

const BLOCKS: readonly Block[] = [
  ...README.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms),
].map(([, file, language = "", text = ""]) => ({ file, language, text }));

function block(file: string): string {
  const found = BLOCKS.find((one) => one.file === file);
  if (found === undefined) throw new Error(`The pages have no block for ${file}`);
  return found.text;
}

function section(title: string): string {
  return README.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
}

const scripts = BLOCKS.filter(({ language, file }) => language === "js" && file === undefined).map(
  ({ text }) => text,
);
const [guardSnippet = ""] = scripts;
const [policySnippet = "", storeSnippet = ""] = ["sessionMaxAge", "sqliteStore"].map(
  (name) => scripts.find((text) => text.includes(name)) ?? "",
);

// The rest of the application that the README's other snippets are lines of.
const SNIPPETS = `
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = ${policySnippet}
auth.mount(app);
${guardSnippet}
app.get("/reports", required, (req, res) => {
  res.send("never without a session");
});
app.listen(process.env.PORT);
`;

const STORED = `
import express from "express";
import { idpAuth } from "idpauth/express";
STORE
const app = express();
auth.mount(app);
app.listen(process.env.PORT);
`;

describe("README.md", () => {
  let folder = "";
  let provider: TestProvider;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    await buildPackage();
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-readme-"));
    const { filename } = packPackage(folder);
    await npm(folder, [
      "install",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `./${filename}`,
      ...PACKAGES,
    ]);
    for (const file of ["server.mjs", ".env"]) writeFileSync(path.join(folder, file), block(file));
    writeFileSync(path.join(folder, "snippets.mjs"), SNIPPETS);
    provider = await startTestProvider();
  }, 180_000);

  afterEach(async () => {
    await Promise.all(children.splice(0).map(end));
  });

  afterAll(async () => {
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * The commands of the README with its `.env`; only what belongs to this very run is set over it.
   */
  function surroundings(port: number): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
      SECRET_KEY: KEY,
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
    };
  }

  /** Starts an application and waits until it answers. */
  async function start(
    file: string,
  ): Promise<{ browser: CookieBrowser; origin: string; stderr: () => string }> {
    const port = await freePort();
    const child = spawn(process.execPath, ["--env-file=.env", file], {
      cwd: folder,
      env: surroundings(port),
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const origin = `http://localhost:${port}`;
    const browser = new CookieBrowser({ origin });
    const answers = () =>
      browser.get("/idpauth/session").then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(async () => (child.exitCode === null ? await answers() : stderr)).toBe(200);
    return { browser, origin, stderr: () => stderr };
  }

  it("the application signs a user in who opens /reports, and shows it", async () => {
    const { browser, origin, stderr } = await start("server.mjs");
    expect((await browser.navigate("/")).text).toBe('<a href="/reports">Reports</a>');
    expect((await browser.get("/reports")).status).toBe(401);
    const reports = await browser.follow("/reports");
    expect(reports.url.href).toBe(`${origin}/reports`);
    expect(reports.status).toBe(200);
    expect(reports.json()).toEqual({ hello: "Ada Lovelace", hasToken: true });
    expect((await browser.navigate("/idpauth/")).text).toContain("You are signed in");
    expect((await browser.get("/idpauth/debug")).json().session.credentials.token).toBe("present");
    // The only thing that the newcomer is told at start is what the comment in .env says.
    expect(stderr().match(/[EW]\d{3}/g)).toEqual(["E004"]);
    expect(block(".env")).toContain("E004");
  });

  it("each endpoint of its table responds as the table says", async () => {
    const { browser } = await start("server.mjs");
    const paths = [...README.matchAll(/^\| `(\/idpauth\/[^`]*)` \|/gm)].map(
      ([, endpoint]) => endpoint,
    );
    expect(paths).toHaveLength(19);
    const answers = await Promise.all(
      paths.map(async (endpoint) => [endpoint, (await browser.navigate(endpoint!)).status]),
    );
    expect(Object.fromEntries(answers)).toEqual({
      "/idpauth/": 200,
      "/idpauth/login/": 302,
      "/idpauth/login-callback": 400,
      "/idpauth/session": 200,
      "/idpauth/logout/": 302,
      "/idpauth/debug": 200,
      // Their settings are off.
      "/idpauth/logout-callback": 404,
      "/idpauth/frontchannel-logout": 404,
      "/idpauth/backchannel-logout": 404,
      "/idpauth/events": 404,
      "/idpauth/popup": 200,
      "/idpauth/popup.js": 200,
      "/idpauth/style.css": 200,
      "/idpauth/sessions": 404,
      "/idpauth/times.js": 404,
      "/idpauth/jwks": 404,
    });
  });

  it("`idpauth check` finds nothing that keeps the application from starting", async () => {
    const [command = ""] = /^npx --no idpauth check .+$/m.exec(README) ?? [];
    expect(command).toBe("npx --no idpauth check --env-file=.env");
    const { stdout } = await run("npx", command.split(" ").slice(1), {
      cwd: folder,
      env: { PATH: process.env["PATH"], SECRET_KEY: KEY },
    });
    expect(stdout).toContain("idpauth check: 0 errors, 2 warnings\n");
  });

  it("the command for a key prints one that is long enough", async () => {
    const [, expression = ""] = /`node -p "([^"]+)"`/.exec(README) ?? [];
    const { stdout } = await run(process.execPath, ["-p", expression], { cwd: folder, env: {} });
    expect(Buffer.from(stdout.trim(), "base64url")).toHaveLength(32);
  });

  it("the guard's own responses and the policy are code that runs", async () => {
    expect(scripts).toHaveLength(3);
    const { browser } = await start("snippets.mjs");
    const answer = await browser.get("/reports");
    expect(answer.status).toBe(401);
    expect(answer.json()).toEqual({ authenticated: false, login_url: "/idpauth/login/" });
    expect((await browser.get("/idpauth/debug")).json().settings).toMatchObject({
      IDP_SESSION_MAX_AGE: 28_800,
      IDP_SESSION_IDLE_TIMEOUT: 1800,
    });
  });

  it("the store is code that runs, and keeps a session beyond a restart", async () => {
    writeFileSync(path.join(folder, "stored.mjs"), STORED.replace("STORE", storeSnippet));
    const first = await start("stored.mjs");
    await first.browser.follow("/idpauth/login/");
    expect((await first.browser.get("/idpauth/session")).json().authenticated).toBe(true);
    await Promise.all(children.splice(0).map(end));
    const second = await start("stored.mjs");
    expect(
      (
        await second.browser.get("/idpauth/session", {
          headers: { cookie: `idpauth=${first.browser.cookies.value("idpauth") ?? ""}` },
        })
      ).json().authenticated,
    ).toBe(true);
    expect(existsSync(path.join(folder, "sessions.db"))).toBe(true);
  });

  it("every accessor and function that it names exists", async () => {
    const accessors = [...section("The accessors").matchAll(/^\| `(\w+)\([^`]*\)` \|/gm)].map(
      ([, name]) => name,
    );
    expect(accessors).toHaveLength(26);
    const program = `
      import * as index from "idpauth";
      import * as adapter from "idpauth/adapter";
      import { idpAuth } from "idpauth/express";
      const auth = idpAuth();
      console.log(JSON.stringify({ auth: Object.keys(auth), index: Object.keys(index), adapter: Object.keys(adapter) }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], {
      cwd: folder,
      env: {},
    });
    const found = JSON.parse(stdout) as {
      auth: string[];
      index: string[];
      adapter: string[];
    };
    expect(found.auth).toEqual(expect.arrayContaining(accessors));
    const plain = ["ProviderUnavailableError", "StoreUnavailableError", "GuardMissingError"];
    const forAuthors = ["credentialsToDict", "hasEpochTimePassed", "isValidIdpUrl"];
    for (const name of [...plain, ...forAuthors]) expect(README).toContain(`\`${name}`);
    expect(found.index).toEqual(expect.arrayContaining(plain));
    expect(found.adapter).toEqual(expect.arrayContaining(forAuthors));
  });

  it("its JavaScript passes a strict type check, as does a strict TypeScript application, the package's own types included", async () => {
    writeFileSync(path.join(folder, "consumer.ts"), CONSUMER);
    expect(await compile(folder, ["server.mjs", "snippets.mjs", "consumer.ts"], ["node"])).toBe("");
  });

  it.each([
    ["`idpauth` compiles without the types of Express and of Node", PLAIN_APPLICATION, []],
    ["`idpauth/adapter` compiles without the types of Express", PLAIN_ADAPTER, ["node"]],
  ])("%s", async (_title, source, types) => {
    const inner = path.join(folder, "without-express");
    mkdirSync(path.join(inner, "node_modules"), { recursive: true });
    writeFileSync(path.join(inner, "consumer.ts"), source);
    expect(await compile(inner, ["consumer.ts"], types)).toBe("");
  });
});

async function npm(cwd: string, args: readonly string[]): Promise<{ stdout: string }> {
  // What `npm test` sets for its scripts would make this npm work on the project instead of the
  // folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?:package|lifecycle|command|config_(?:local_prefix|prefix))/.test(name),
    ),
  );
  return run("npm", [...args], { cwd, env });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill();
  await ended;
}

/**
 * Compiles files of a folder as a strict project that looks into every library's types; gives what
 * the compiler says.
 */
async function compile(
  folder: string,
  files: readonly string[],
  types: readonly string[],
): Promise<string> {
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    types,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowJs: true,
    checkJs: true,
    noEmit: true,
  };
  writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ ...readPackage(folder), type: "module" }),
  );
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
  return run(process.execPath, [compiler, "-p", folder]).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}

function readPackage(folder: string): object {
  const file = path.join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : {};
}

/**
 * A TypeScript application that touches what is public: what it infers must be usable, not `any`.
 */
const CONSUMER = `
import express, { type Request } from "express";
import { isOutage, memoryStore, type Credentials, type Session, type SessionStore } from "idpauth";
import { credentialsToDict, hasEpochTimePassed, isValidIdpUrl } from "idpauth/adapter";
import { idpAuth, type ExpressIdpAuth, type GuardResponses } from "idpauth/express";

type IsAny<T> = 0 extends 1 & T ? true : false;
const isNotAny = <T>(_value: T, no: IsAny<T> extends true ? never : "typed"): "typed" => no;

const store: SessionStore = memoryStore();
const auth: ExpressIdpAuth = idpAuth({ store, sessionMaxAge: 8 * 60 * 60, scope: ["openid", "email"], log: false });
const app = express();
auth.mount(app);
const router = express.Router();
auth.mount(router);

const answers: GuardResponses = {
  navigation: (_request, response, blocked) => response.redirect(blocked.loginUrl),
  unavailable: (_request, response, blocked) => void response.status(503).json({ code: blocked.error.code }),
};

app.get("/reports", auth.idpRequiredWith(answers), async (request: Request, response) => {
  const credentials: Credentials | null = await auth.getCredentials(request);
  const user = (await auth.clientState(request)).user;
  isNotAny(user, "typed");
  const session: Session | null = await auth.getSession(request);
  const subject: string | undefined = session?.claims.sub;
  isNotAny(session?.signedInAt, "typed");
  // @ts-expect-error a session is read-only
  if (session !== null) session.signedInAt = 0;
  isNotAny(await auth.readSessionRecord(request), "typed");
  const token: string | null = await auth.getAccessToken(request, { minValidity: 60 });
  const { authenticated, reason } = await auth.explainIdpAuthentication(request);
  const name: string | null | undefined = user?.name;
  // @ts-expect-error credentials may be null
  credentials.token;
  response.json({ name, subject, token, authenticated, reason, scopes: credentials?.scopes, checked: await auth.checkIdpAuthentication(request) });
});

const stop: () => void = auth.on("login", (event) => isNotAny(event, "typed"));
stop();
// @ts-expect-error there is no such event
auth.on("nonsense", () => {});
// @ts-expect-error there is no such option
idpAuth({ sessionMaxAgee: 1 });

export const revoked: Promise<boolean> = auth.revokeIdpToken("token");
export { credentialsToDict, hasEpochTimePassed, isOutage, isValidIdpUrl };
`;

const PLAIN_APPLICATION = `
import { memoryStore, type IdpAuthOptions, type IdpRequest } from "idpauth";

export const options: IdpAuthOptions = { store: memoryStore() };
export const pathOf = ({ target }: IdpRequest): string => target;
`;

const PLAIN_ADAPTER = `
import type { IdpRequest } from "idpauth";
import { createIdpAuth, type AnyReply } from "idpauth/adapter";

interface Raw { readonly path: string }
const auth = createIdpAuth<Raw>({ env: {} }, {
  name: "plain",
  request: (raw): IdpRequest => ({ method: "GET", target: raw.path, scheme: "http", host: "localhost", header: () => undefined }),
});
export const reply: Promise<AnyReply> | undefined = auth.handle({ path: "/idpauth/session" });
`;
