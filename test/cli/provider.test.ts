import express from "express";
import { decodeJwt } from "jose";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { readProviderUsage } from "../../src/cli/provider/provider-usage.js";
import { defaultDataFile } from "../../src/cli/provider/state-file.js";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { memoryStore } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { RunningClock, type MovableClock } from "../../src/testing/running-clock.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { buttonsIn, choose, submission } from "../support/choose-person.mjs";
import { emptyFolder, runProvider, startProvider, type RunningProvider } from "./provider-run.js";

interface Application {
  readonly auth: ExpressIdpAuth;
  readonly origin: string;
  readonly browser: CookieBrowser;
}

/** An application with the printed settings. */
async function startApplication(
  provider: RunningProvider,
  clock: MovableClock = new RunningClock(),
  store = memoryStore(),
): Promise<Application> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const auth = idpAuth({ env: { ...provider.env, BASE_URL: origin }, clock, store, log: false });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (request, response) => {
    const credentials = await auth.getCredentials(request);
    response.json({
      user: (await auth.clientState(request)).user,
      refresh: credentials?.refresh_token,
    });
  });
  return { auth, origin, browser: new CookieBrowser({ origin, now: () => clock.now() }) };
}

describe("a sign-in at `idpauth provider`", () => {
  it("shows the users, signs in the chosen one, and redirects back to the page", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const { browser, origin } = await startApplication(provider);
    const page = await browser.follow("/reports");
    expect(page.url.origin).toBe(provider.issuer);
    expect(buttonsIn(page.text).map(({ text }) => text)).toEqual([
      "Ada Lovelace ada@example.com",
      "Grace Hopper grace@example.com",
      "Alan Turing alan@example.com",
      "Cancel",
    ]);
    expect(page.text).toContain(`<code>${origin}</code>`);
    const reports = await choose(browser, page, "Grace Hopper");
    expect(reports.url.href).toBe(`${origin}/reports`);
    expect(reports.json().user).toEqual({
      name: "Grace Hopper",
      email: "grace@example.com",
      picture: null,
    });
    expect(provider.stderr()).toBe("");
  });

  it("redirects back with access_denied after Cancel", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const { browser, origin } = await startApplication(provider);
    const index = await choose(browser, await browser.follow("/idpauth/login/"), "Cancel");
    expect(index.url.href).toBe(`${origin}/idpauth/?error=access_denied`);
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(false);
  });

  it("offers the users of --person, escaped, with one `sub` for each address", async () => {
    const argv = [
      "--port",
      "0",
      "--person",
      'O\'Neil & "Söhne" <oneil@example.com>',
      "--person=alone@example.com",
    ];
    const folder = emptyFolder();
    const subjects: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      const provider = await startProvider(argv, { folder });
      const { browser, auth } = await startApplication(provider);
      auth.on("login", ({ subject }) => subjects.push(subject));
      const page = await browser.follow("/reports");
      expect(buttonsIn(page.text).map(({ text }) => text)).toEqual([
        'O\'Neil & "Söhne" oneil@example.com',
        "alone@example.com",
        "Cancel",
      ]);
      expect((await choose(browser, page, "O'Neil")).json().user.name).toBe('O\'Neil & "Söhne"');
    }
    expect(subjects).toEqual([expect.any(String), subjects[0]]);
  });

  it("gives each user's groups, and the time of the choice to a request with max_age", async () => {
    const clock = new TestClock();
    const argv = [
      "--port=0",
      "--person=Ada <ada@example.com> admin, staff",
      "--person=grace@example.com",
    ];
    const provider = await startProvider(argv, { folder: emptyFolder(), now: () => clock.now() });
    const claimsAfter = async (name: string, parameters: Readonly<Record<string, string>>) => {
      const verifier = "v".repeat(43);
      const code_challenge = createHash("sha256").update(verifier).digest("base64url");
      const page = await ask(provider, { code_challenge, ...parameters });
      clock.advance(60_000);
      const { url, ...options } = submission(page, name);
      const callback = new URL((await new CookieBrowser().get(url, options)).location ?? "");
      const response = await new CookieBrowser().get(`${provider.issuer}/token`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code: callback.searchParams.get("code") ?? "",
          redirect_uri: `${callback.origin}${callback.pathname}`,
          code_verifier: verifier,
          client_id: provider.env["IDP_CLIENT_ID"] ?? "",
          client_secret: provider.env["IDP_CLIENT_SECRET"] ?? "",
        }).toString(),
      });
      return decodeJwt<Record<string, unknown>>((response.json() as { id_token: string }).id_token);
    };
    const claims = await claimsAfter("Ada", { max_age: "0", acr_values: "gold" });
    expect(claims).toMatchObject({
      groups: ["admin", "staff"],
      auth_time: claims.iat,
      acr: "gold",
    });
    const plain = await claimsAfter("grace", {});
    expect([plain["groups"], "auth_time" in plain]).toEqual([[], false]);
  });

  it("with --tenant has the issuer of Entra ID's tenants, and everybody is of that tenant", async () => {
    const tenant = "11111111-2222-4333-8444-555555555555";
    const provider = await startProvider(["--port=0", `--tenant=${tenant}`], {
      folder: emptyFolder(),
    });
    expect(provider.env).toMatchObject({
      IDP_ISSUER: `http://127.0.0.1:${provider.port}/organizations/v2.0`,
      IDP_ALLOWED_TENANTS: tenant,
    });
    const { browser, auth } = await startApplication(provider);
    const subjects: unknown[] = [];
    auth.on("login", ({ issuer, subject }) => subjects.push([issuer, subject]));
    const reports = await choose(browser, await browser.follow("/reports"), "Ada");
    expect(reports.json()).toMatchObject({ user: { name: "Ada Lovelace" } });
    expect(subjects).toEqual([[`http://127.0.0.1:${provider.port}/${tenant}/v2.0`, "ada"]]);
  });

  it("offers the user of login_hint first", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const page = await ask(provider, { login_hint: "alan@example.com" });
    expect(buttonsIn(page.text)[0]?.text).toBe(
      "Alan Turing alan@example.com The application suggests this person.",
    );
  });

  it.each([
    [{ prompt: "none" }, "login_required"],
    [{ scope: "email" }, "invalid_scope"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
  ])("redirects back with an error for %j", async (changes, error) => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const answer = await ask(provider, changes);
    const location = new URL(answer.location ?? "");
    expect(location.href).toMatch(/^http:\/\/localhost:3000\/idpauth\/login-callback\?/);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error,
      state: "s",
      iss: provider.issuer,
    });
  });

  it.each([
    [{ client_id: "<b>other" }, "client ID does not"],
    [
      { redirect_uri: "https://app.example/idpauth/login-callback" },
      "redirect URI is not accepted",
    ],
    [{ redirect_uri: "https://localhost.evil.example/" }, "redirect URI is not accepted"],
    [{ redirect_uri: "javascript://localhost/%0aalert(1)" }, "redirect URI is not accepted"],
    [{ redirect_uri: "<b>no address" }, "redirect URI is not accepted"],
  ])("shows a page and redirects nowhere for %j", async (changes, words) => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const answer = await ask(provider, changes);
    expect(answer).toMatchObject({ status: 400, location: undefined });
    expect(answer.text).toContain(words);
    expect(answer.text).not.toContain("<b>");
  });

  it("accepts exactly the URIs of --redirect-uri", async () => {
    const uri = "https://app.example/idpauth/login-callback";
    const provider = await startProvider(["--port=0", `--redirect-uri=${uri}`], {
      folder: emptyFolder(),
    });
    expect((await ask(provider, { redirect_uri: uri })).status).toBe(200);
    expect((await ask(provider, {})).status).toBe(400);
  });

  it("accepts the form from its own page only", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const page = await ask(provider, {});
    const { url, ...options } = submission(page, "Ada");
    const foreign = await new CookieBrowser().get(url, {
      ...options,
      headers: { ...options.headers, "sec-fetch-site": "cross-site" },
    });
    expect(foreign).toMatchObject({ status: 403, location: undefined });
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("serves no request that names another machine", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const answer = await rawRequest(
      provider.port,
      "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(answer.status).toBe(403);
    expect((await new CookieBrowser().get(`http://localhost:${provider.port}/`)).status).toBe(200);
  });

  it("shows at its own address that it runs, and no secret", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    const { status, text } = await new CookieBrowser().get(`${provider.issuer}/`);
    expect(status).toBe(200);
    expect(text).toContain("for development");
    expect(text).not.toContain(provider.env["IDP_CLIENT_SECRET"]);
  });
});

describe("a restart of `idpauth provider`", () => {
  it("keeps settings, key and grants: a refresh token of before is rotated, and a spent one ends its family", async () => {
    const folder = emptyFolder();
    const clock = new RunningClock();
    const now = () => clock.now();
    const first = await startProvider(["--port=0", "--data=state.json"], { folder, now });
    const jwks = (await new CookieBrowser().get(`${first.issuer}/jwks`)).text;
    const { browser } = await startApplication(first, clock);
    const before = (await choose(browser, await browser.follow("/reports"), "Ada")).json().refresh;
    expect(await first.stop()).toBe(0);

    const argv = [`--port=${first.port}`, "--data=state.json"];
    const second = await startProvider(argv, { folder, now });
    expect(second.env).toEqual(first.env);
    expect((await new CookieBrowser().get(`${second.issuer}/jwks`)).text).toBe(jwks);
    clock.advance(3_600_000);
    const after = (await browser.get("/reports")).json();
    expect(after.user.name).toBe("Ada Lovelace");
    expect(after.refresh).not.toBe(before);
    await second.stop();

    const third = await startProvider(argv, { folder, now });
    expect((await refresh(third, before)).status).toBe(400);
    // That was a reuse, so the whole family is revoked.
    expect((await refresh(third, after.refresh)).status).toBe(400);
    clock.advance(3_600_000);
    expect((await browser.get("/reports")).status).toBe(401);
  });

  it("remembers a revocation", async () => {
    const folder = emptyFolder();
    const first = await startProvider(["--port=0", "--data=state.json"], { folder });
    const { browser } = await startApplication(first);
    const token = (await choose(browser, await browser.follow("/reports"), "Ada")).json().refresh;
    await browser.follow("/idpauth/logout/");
    await first.stop();
    const second = await startProvider([`--port=${first.port}`, "--data=state.json"], { folder });
    expect((await refresh(second, token)).status).toBe(400);
  });

  it("keeps the file small: what has expired is left out", async () => {
    const folder = emptyFolder();
    const clock = new RunningClock();
    const provider = await startProvider(["--port=0", "--data=state.json"], {
      folder,
      now: () => clock.now(),
    });
    const { browser } = await startApplication(provider, clock);
    let token = (await choose(browser, await browser.follow("/reports"), "Ada")).json()
      .refresh as string;
    const kept = () =>
      JSON.parse(readFileSync(path.join(folder, "state.json"), "utf8")).providers[""];
    for (let day = 0; day < 5; day += 1) {
      clock.advance(24 * 3_600_000);
      token = (await refresh(provider, token)).json().refresh_token;
    }
    expect(kept().refreshTokens).toHaveLength(2);
    expect(kept().accessTokens).toHaveLength(1);
    clock.advance(91 * 24 * 3_600_000);
    expect((await refresh(provider, "unknown")).status).toBe(400);
    expect(kept()).toMatchObject({ approvals: [], refreshTokens: [], accessTokens: [] });
  });

  it("keeps nothing on a free port without --data, and says so", async () => {
    const folder = emptyFolder();
    const first = await startProvider(["--port=0"], { folder });
    expect(first.stdout).toContain("Keys and tokens: not kept");
    expect(existsSync(path.join(folder, ".local"))).toBe(false);
  });
});

describe("the file of `idpauth provider`", () => {
  it("is in the user's folder for state, for this user alone", async () => {
    const folder = emptyFolder();
    const probe = await startProvider(["--port=0"], { folder });
    await probe.stop();
    await startProvider([`--port=${probe.port}`], {
      folder,
      env: { XDG_STATE_HOME: path.join(folder, "state") },
    });
    const file = path.join(folder, "state/idpauth", `provider-${probe.port}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it("has its default place by the conventions of the system", () => {
    expect(defaultDataFile(9400, {}, "/home/ada")).toBe(
      "/home/ada/.local/state/idpauth/provider-9400.json",
    );
    expect(defaultDataFile(9400, { XDG_STATE_HOME: "relative" }, "/home/ada")).toContain(
      "/home/ada/.local",
    );
    expect(defaultDataFile(1, { LOCALAPPDATA: "/local" }, "/home/ada")).toBe(
      "/local/idpauth/provider-1.json",
    );
  });

  const EMPTY = '"approvals":[],"refreshTokens":[],"accessTokens":[]';
  const SECRETS = `"secretKey":"${"k".repeat(43)}","clientSecret":"${"s".repeat(43)}"`;
  it.each([
    ["nothing", ""],
    ["the start of one", '{"format":"idpauth provider 1","secretKey'],
    ["another program's JSON", '{"name":"my-application"}'],
    ["a list", "[]"],
    ["null", "null"],
    [
      "a line break in a secret",
      `{"format":"idpauth provider 1","secretKey":"a\\nNODE_OPTIONS=x","clientSecret":"hunter2"}`,
    ],
    [
      "a key that is none",
      `{"format":"idpauth provider 1",${SECRETS},"signingKey":{"kid":"k","pem":"hunter2"},${EMPTY}}`,
    ],
    ["no key", `{"format":"idpauth provider 1",${SECRETS},${EMPTY}}`],
  ])("is left alone when it holds %s", async (_what, content) => {
    const folder = emptyFolder();
    const file = path.join(folder, "state.json");
    writeFileSync(file, content);
    chmodSync(file, 0o644);
    const ended = await runProvider(["--port=0", "--data=state.json"], { folder });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect((ended as { stderr: string }).stderr).toContain(
      `The file ${file} isn't a readable state file of \`idpauth provider\``,
    );
    expect((ended as { stderr: string }).stderr).not.toContain("hunter2");
    expect(readFileSync(file, "utf8")).toBe(content);
  });

  it.each([
    ["a token without its approval", { refreshTokens: [{ token: "t", family: 5, issuedAt: 0 }] }],
    ["a person without `sub`", { approvals: [{ person: {}, scope: "", redirectUri: "" }] }],
    [
      "a time that is text",
      { approvals: [], accessTokens: [{ token: "t", family: 0, expiresAt: "soon" }] },
    ],
  ])("is refused with %s", async (_what, changes) => {
    const folder = emptyFolder();
    const file = path.join(folder, "state.json");
    await (await startProvider(["--port=0", "--data=state.json"], { folder })).stop();
    const state = JSON.parse(readFileSync(file, "utf8"));
    state.providers[""] = { ...state.providers[""], ...changes };
    writeFileSync(file, JSON.stringify(state));
    expect(await runProvider(["--port=0", "--data=state.json"], { folder })).toMatchObject({
      code: 2,
    });
  });

  it("is read as earlier versions wrote it, with one provider", async () => {
    const folder = emptyFolder();
    const file = path.join(folder, "state.json");
    const first = await startProvider(["--port=0", "--data=state.json"], { folder });
    await first.stop();
    const { secretKey, providers } = JSON.parse(readFileSync(file, "utf8"));
    const { clientKey: _, ...provider } = providers[""];
    writeFileSync(file, JSON.stringify({ format: "idpauth provider 1", secretKey, ...provider }));
    const again = await startProvider([`--port=${first.port}`, "--data=state.json"], { folder });
    expect(again.env).toEqual(first.env);
  });

  it("is no link and no folder, and loses the permissions of other users", async () => {
    const folder = emptyFolder();
    const file = path.join(folder, "state.json");
    await (await startProvider(["--port=0", "--data=state.json"], { folder })).stop();
    chmodSync(file, 0o644);
    await (await startProvider(["--port=0", "--data=state.json"], { folder })).stop();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    symlinkSync(file, path.join(folder, "link.json"));
    mkdirSync(path.join(folder, "folder.json"));
    for (const name of ["link.json", "folder.json"]) {
      expect(await runProvider(["--port=0", `--data=${name}`], { folder })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("isn't a regular file"),
      });
    }
  });
});

describe("the settings that `idpauth provider` gives", () => {
  it("are all that an application needs, without debug mode", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    expect(Object.keys(provider.env)).toEqual([
      "SECRET_KEY",
      "IDP_ISSUER",
      "IDP_CLIENT_ID",
      "IDP_CLIENT_SECRET",
      "SCOPE",
      "BASE_URL",
    ]);
    expect(provider.env["BASE_URL"]).toBe("http://localhost:3000");
    const checked: unknown[] = [];
    idpAuth({ env: provider.env, store: memoryStore(), log: (entry) => checked.push(entry) }).mount(
      express(),
    );
    expect(checked.filter((entry) => (entry as { level: string }).level === "error")).toEqual([]);
  });

  it("--write-env writes them to .env, and prints no secret", async () => {
    const folder = emptyFolder();
    const provider = await startProvider(["--port=0", "--write-env", "--data=state.json"], {
      folder,
    });
    const file = path.join(folder, ".env");
    const written = parseEnv(readFileSync(file, "utf8"));
    expect(written).toMatchObject({
      IDP_ISSUER: provider.issuer,
      BASE_URL: "http://localhost:3000",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of [written["SECRET_KEY"], written["IDP_CLIENT_SECRET"]])
      expect(provider.stdout).not.toContain(secret);

    await provider.stop();
    const argv = [`--port=${provider.port}`, "--write-env", "--data=state.json"];
    const again = await startProvider(argv, { folder });
    expect(again.stdout).toContain(
      "The application's settings are already in .env. The file is unchanged.",
    );
    await again.stop();

    // The application's own changes stay at the next start.
    const own = `${readFileSync(file, "utf8")}BASE_URL=http://localhost:8080\nSECRET_KEY=own\n`;
    writeFileSync(file, own);
    const changed = await startProvider([...argv, "--pushed-requests"], { folder });
    expect(changed.stdout).toContain(
      ".env already names this provider, so the file is unchanged. These settings are different in it:\n\n" +
        "IDP_PUSHED_REQUESTS=always\nBASE_URL=http://localhost:3000\n",
    );
    expect(changed.stdout).not.toContain("SECRET_KEY");
    expect(readFileSync(file, "utf8")).toBe(own);
    await changed.stop();

    writeFileSync(
      file,
      own.replace("BASE_URL=http://localhost:8080", "IDP_PUSHED_REQUESTS=always"),
    );
    const without = await startProvider(argv, { folder });
    expect(without.env).toEqual({ IDP_PUSHED_REQUESTS: "" });
  });

  it("--write-env overwrites no file that names another provider", async () => {
    const folder = emptyFolder();
    writeFileSync(path.join(folder, "dev.env"), "IDP_CLIENT_ID=mine\n");
    const ended = await runProvider(["--port=0", "--write-env=dev.env"], { folder });
    expect(ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("dev.env exists and doesn't name this provider"),
    });
    expect(readFileSync(path.join(folder, "dev.env"), "utf8")).toBe("IDP_CLIENT_ID=mine\n");
  });
});

describe("the start of `idpauth provider`", () => {
  it("says that it is for development, requires no password, and listens on this machine only", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    expect(provider.stdout).toContain(
      "For development only: you sign in by choosing a person, without a password. It listens on this machine only.",
    );
  });

  it.each(["--port=N", "--port N"])(
    "names the port of %s that is in use, prints the command with another one, and touches no file",
    async (form) => {
      const folder = emptyFolder();
      const { port } = await startProvider(["--port=0"], { folder });
      const others = ["--data=state.json", "--person", "Ada's <ada@example.com>"];
      const option = form.replace("N", String(port)).split(" ");
      const ended = await runProvider(["--write-env", ...option, ...others], { folder });
      expect(ended).toMatchObject({ code: 2, stdout: "" });
      const [before, command] = (ended as { stderr: string }).stderr.split(" another port: ");
      expect(before).toContain(`port ${port} of 127.0.0.1 is in use`);
      expect(command).toBe(
        String.raw`npx idpauth provider --write-env --data=state.json --person 'Ada'\''s <ada@example.com>' --port=${port + 1}` +
          "\n",
      );
      expect(existsSync(path.join(folder, "state.json"))).toBe(false);
    },
  );

  it("--help writes the help", async () => {
    expect(await runProvider(["--help"], { folder: emptyFolder() })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: idpauth provider /),
      stderr: "",
    });
  });

  it.each<[string[], string]>([
    [["--prot=1"], 'unknown option "--prot"'],
    [["9400"], 'unknown argument "9400"'],
    [["--port"], "--port needs a value"],
    [["--port="], "--port needs a value"],
    [["--port=web"], '--port is "web"; it must be a whole number from 0 to 65535'],
    [["--port=65536"], '--port is "65536"; it must be a whole number from 0 to 65535'],
    [["--port=1", "--port=2"], "--port is given more than once"],
    [["--help=yes"], "--help doesn't take a value"],
    [["--write-env="], "--write-env needs a value"],
    [["--person=Ada"], '--person is "Ada"; write it as "Ada Lovelace <ada@example.com>"'],
    [
      ["--person=a@b.example", "--person=A <a@b.example>"],
      "two people have the same email address",
    ],
    [
      ["--redirect-uri=app"],
      '--redirect-uri is "app"; write it as http://localhost:3000/idpauth/login-callback',
    ],
    [["--token-seconds=0"], '--token-seconds is "0"; it must be a whole number from 1 to 31536000'],
    [
      ["--tenant=contoso"],
      '--tenant is "contoso"; write a GUID in lower case, such as 11111111-2222-4333-8444-555555555555',
    ],
    [
      ["--host=0.0.0.0"],
      "there is no option --host: the provider doesn't ask for a password, so it listens only on 127.0.0.1",
    ],
  ])("%j is wrong usage", (argv, mistake) => {
    expect(readProviderUsage(argv)).toEqual({ mistake });
  });
});

/** Asks for a sign-in as an application does, with some parameters changed. */
function ask(provider: RunningProvider, changes: Readonly<Record<string, string>>) {
  const parameters = new URLSearchParams({
    client_id: provider.env["IDP_CLIENT_ID"] ?? "",
    redirect_uri: "http://localhost:3000/idpauth/login-callback",
    response_type: "code",
    scope: "openid email",
    state: "s",
    code_challenge: "c".repeat(43),
    code_challenge_method: "S256",
    ...changes,
  });
  return new CookieBrowser().navigate(`${provider.issuer}/authorize?${parameters.toString()}`);
}

function refresh(provider: RunningProvider, token: string) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: token,
    client_id: provider.env["IDP_CLIENT_ID"] ?? "",
    client_secret: provider.env["IDP_CLIENT_SECRET"] ?? "",
  }).toString();
  return new CookieBrowser().get(`${provider.issuer}/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body,
  });
}
