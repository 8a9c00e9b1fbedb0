import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser, startTestProvider, type TestProvider } from "../../src/testing/index.js";

// docs/snippets/apple/sign-in.mjs, over Express, with a provider that behaves like Apple.

const given = vi.hoisted((): { options: IdpAuthOptions } => ({ options: {} }));

vi.mock("../../src/adapters/express/express.js", async (original) => {
  const entry = await original<{ idpAuth: (options: IdpAuthOptions) => unknown }>();
  return {
    ...entry,
    idpAuth: (options: IdpAuthOptions = {}) => entry.idpAuth({ ...given.options, ...options }),
  };
});

const APPLE = { teamId: "TEAM123456", keyId: "KEY1234567" };
const ADA = { sub: "001.ada", email: "ada@privaterelay.appleid.com", given_name: "Ada" };

interface Snippet {
  readonly app: RequestListener;
  readonly users: { find(id: string): unknown };
}

let provider: TestProvider;
let server: Server;
let origin: string;
let snippet: Snippet;

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  provider = await startTestProvider({
    apple: APPLE,
    clientJwks: [createPublicKey(privateKey).export({ format: "jwk" })],
    announceIss: false,
    person: ADA,
  });
  given.options = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    secretKey: "a secret key of at least 32 bytes",
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    appleTeamId: APPLE.teamId,
    appleKeyId: APPLE.keyId,
    responseMode: "form_post",
    scope: "openid email name",
    log: false,
  };
  snippet = (await import(
    new URL("../../docs/snippets/apple/sign-in.mjs", import.meta.url).href
  )) as Snippet;
  server = createServer(snippet.app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterAll(async () => {
  server.close();
  await provider.stop();
});

/** Signs in as a browser does, whose form of another site brings no cookie. */
async function signIn(): Promise<number> {
  const browser = new CookieBrowser({ origin });
  const login = await browser.navigate("/idpauth/login/");
  const { text: page } = await browser.navigate(login.location ?? "");
  const fields = [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = "", value = ""]): [string, string] => [name, value.replaceAll("&#34;", '"')],
  );
  const [, action = ""] = /action="([^"]*)"/.exec(page) ?? [];
  const body = new URLSearchParams(fields);
  const posted = await fetch(action, { method: "POST", body, redirect: "manual" });
  return (await browser.navigate(posted.headers.get("location") ?? "")).status;
}

it("the application keeps the name of the first sign-in, and a later one doesn't remove it", async () => {
  const saved = { email: ADA.email, name: "Ada" };
  expect(await signIn()).toBe(302);
  expect(snippet.users.find(ADA.sub)).toEqual(saved);
  expect(await signIn()).toBe(302);
  expect(snippet.users.find(ADA.sub)).toEqual(saved);
});
