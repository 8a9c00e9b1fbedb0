// The example provider of github.com/zitadel/oidc: its login page and storage, with the admin
// interface that main.go adds.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../../run.mjs";
import { newClientKey } from "../client-key.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { steps } from "./steps.mjs";

/** @typedef {import("../servers.mjs").ClientWish & { id?: string, secret?: string }} ClientWish */

const run = promisify(execFile);
const GO_MINOR = 26;
const PROGRAM = path.join(root, "node_modules/.cache/interop/zitadel-oidc/provider");
/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
const [, version = ""] =
  /zitadel\/oidc\/v3 v(\S+)/.exec(readFileSync(path.join(import.meta.dirname, "go.mod"), "utf8")) ??
  [];

const USERS = {
  ada: {
    ID: "ada",
    Username: "ada",
    Password: "correct horse",
    FirstName: "Ada",
    LastName: "Lovelace",
    Email: "ada@example.com",
    EmailVerified: true,
    PreferredLanguage: "en",
    IsAdmin: true,
  },
  grace: {
    ID: "grace",
    Username: "grace",
    Password: "correct horse",
    FirstName: "Grace",
    LastName: "Hopper",
    Email: "grace@example.com",
    EmailVerified: true,
    PreferredLanguage: "en",
  },
};

/** @type {import("../servers.mjs").Server} */
export default {
  key: "zitadel",
  title: "zitadel/oidc's example provider",
  version,
  notes:
    "The library's example server, with its own login page and storage. A program around it registers clients and shortens the lifetimes. Its users have no session at the provider: each sign-in asks for the password.",
  missing,
  start,
  steps,
};

/** @returns {Promise<string | undefined>} */
async function missing() {
  const { stdout } = await run("go", ["version"]).catch(() => ({ stdout: "" }));
  const [, minor = "0"] = /go1\.(\d+)/.exec(stdout) ?? [];
  return Number(minor) < GO_MINOR
    ? `Go 1.${GO_MINOR} or newer is missing: install it from https://go.dev/dl/.`
    : undefined;
}

/** @param {string} folder */
async function start(folder) {
  console.log("Build: the Go module in scripts/interop/zitadel-oidc");
  await run("go", ["build", "-o", PROGRAM, "."], { cwd: import.meta.dirname });
  const port = await freePort();
  const users = path.join(folder, "users.json");
  writeFileSync(users, JSON.stringify(USERS));
  const program = await startProgram({
    command: PROGRAM,
    args: [String(port), users, String(TOKEN_SECONDS)],
    ready: /^Ready$/m,
  });
  const issuer = `http://localhost:${port}/`;
  const admin = async (/** @type {string} */ where, /** @type {RequestInit} */ init = {}) => {
    const answer = await fetch(`${issuer}admin/${where}`, init);
    if (!answer.ok) throw new Error(`/admin/${where}: status ${answer.status}`);
    return answer.text();
  };
  return {
    version,
    issuer,
    /** @param {ClientWish} wish */
    async newClient({
      origin,
      method = "client_secret_post",
      id = randomBytes(6).toString("hex"),
      secret = randomBytes(24).toString("base64url"),
    }) {
      const key = method === "private_key_jwt" ? newClientKey("RS256") : undefined;
      const client = {
        id,
        secret,
        method,
        key: key?.publicKey,
        redirectUri: `${origin}/idpauth/login-callback`,
        afterLogoutUri: `${origin}/idpauth/logout-callback`,
      };
      await admin("clients", { method: "POST", body: JSON.stringify(client) });
      return {
        IDP_ISSUER: issuer,
        IDP_CLIENT_ID: id,
        SCOPE: "openid email profile offline_access",
        ...(key
          ? { IDP_PRIVATE_KEY: key.setting }
          : { IDP_CLIENT_SECRET: secret, IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }),
      };
    },
    signInAtProvider,
    tokenRequests: async () => Number(await admin("refreshes")),
    revocations: async () => Number(await admin("revocations")),
    /**
     * @param {string} clientId
     * @param {string} user
     */
    async revokeTokens(clientId, user) {
      await admin(`tokens/${encodeURIComponent(clientId)}/${user}`, { method: "DELETE" });
    },
    end: program.end,
  };
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} [user]
 */
async function signInAtProvider(page, user = "ada") {
  await page.getByLabel("Username:").fill(user);
  await page.getByLabel("Password:").fill("correct horse");
  await page.getByRole("button", { name: "Login" }).click();
}
