import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { startEmbeddedProvider, type EmbeddedProvider } from "../../demo/embedded-provider.js";
import { PEOPLE } from "../../demo/people.js";
import { memoryState } from "../../demo/state.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { choose } from "./choose-person.js";

const VERIFIER = "v".repeat(43);

interface Setup {
  readonly provider: EmbeddedProvider;
  readonly origin: string;
  /** The logout tokens that the application has received. */
  readonly tokens: string[];
}

/** Starts the provider, and an application that records logout tokens. */
async function start(): Promise<Setup> {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      if (request.url === "/idpauth/backchannel-logout")
        tokens.push(new URLSearchParams(body).get("logout_token") ?? "");
      response.writeHead(200, { Connection: "close" }).end("the application");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await startEmbeddedProvider({
    port: 0,
    state: memoryState(),
    redirectUris: [`${origin}/idpauth/login-callback`],
    tokenEndpointAuthMethod: "client_secret_post",
    idTokenSeconds: 3600,
    people: PEOPLE,
  });
  onTestFinished(async () => {
    server.close();
    await provider.close();
  });
  return { provider, origin, tokens };
}

/** Signs a person in and returns the ID token. */
async function signIn(
  { provider, origin }: Setup,
  browser: CookieBrowser,
  person: string,
): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret, issuer } = provider;
  const redirect_uri = `${origin}/idpauth/login-callback`;
  const code_challenge = createHash("sha256").update(VERIFIER).digest("base64url");
  const asked = {
    client_id,
    redirect_uri,
    response_type: "code",
    scope: "openid",
    code_challenge,
    code_challenge_method: "S256",
  };
  const page = await browser.follow(`${issuer}/auth?${new URLSearchParams(asked).toString()}`);
  const code = (await choose(browser, page, person)).url.searchParams.get("code") ?? "";
  const body = new URLSearchParams({
    ...{
      grant_type: "authorization_code",
      code,
      redirect_uri,
      code_verifier: VERIFIER,
      client_id,
      client_secret,
    },
  });
  const { id_token } = (await (
    await fetch(`${issuer}/token`, { method: "POST", body })
  ).json()) as { id_token: string };
  return id_token;
}

const post = (body = "") => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body,
});

describe("the embedded provider", () => {
  it("lists who is signed in, and ends every session of a user with a logout token", async () => {
    const setup = await start();
    const { issuer, clientId } = setup.provider;
    const browser = new CookieBrowser();
    expect((await browser.get(`${issuer}/`)).text).toContain("No person is signed in.");
    const sids = [];
    for (const person of ["ada", "ada", "grace"])
      sids.push(decodeJwt(await signIn(setup, new CookieBrowser(), person))["sid"]);
    expect(new Set(sids).size).toBe(3);
    expect((await browser.get(`${issuer}/`)).text).toMatch(
      /action="\/end\/ada"[^]*action="\/end\/grace"/,
    );
    const ended = await browser.get(`${issuer}/end/ada`, post());
    expect(ended.text).toContain(
      "The provider has ended the session of Ada Lovelace. The application accepted 2 of 2 logout tokens.",
    );
    expect(ended.text).not.toMatch(/<script|action="\/end\/ada"/);
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const payloads = [];
    for (const token of setup.tokens)
      payloads.push(
        (await jwtVerify(token, keys, { issuer, audience: clientId, typ: "logout+jwt" })).payload,
      );
    expect(payloads.map(({ sid }) => sid).sort()).toEqual(sids.slice(0, 2).sort());
    expect(payloads.map(({ sub }) => sub)).toEqual(["ada", "ada"]);
  });

  it("ends no session for another site", async () => {
    const setup = await start();
    await signIn(setup, new CookieBrowser(), "ada");
    const { headers, ...request } = post();
    const foreign = { ...request, headers: { ...headers, "sec-fetch-site": "cross-site" } };
    expect(
      (await new CookieBrowser().get(`${setup.provider.issuer}/end/ada`, foreign)).status,
    ).toBe(403);
    expect(setup.tokens).toEqual([]);
  });

  it("signs out at the application's request, after a question, and goes back with state", async () => {
    const setup = await start();
    const browser = new CookieBrowser();
    const id_token_hint = await signIn(setup, browser, "grace");
    const post_logout_redirect_uri = `${setup.origin}/idpauth/logout-callback`;
    const query = new URLSearchParams({
      id_token_hint,
      post_logout_redirect_uri,
      state: "s",
    }).toString();
    const page = await browser.get(`${setup.provider.issuer}/session/end?${query}`);
    expect(page.text).toContain("Sign out at the provider too?");
    const [, action = ""] = /action="([^"]*)"/.exec(page.text) ?? [];
    const [, xsrf = ""] = /name="xsrf" value="([^"]*)"/.exec(page.text) ?? [];
    const back = await browser.get(
      action,
      post(new URLSearchParams({ xsrf, logout: "yes" }).toString()),
    );
    expect([back.status, back.location]).toEqual([303, `${post_logout_redirect_uri}?state=s`]);
    expect(setup.tokens.map((token) => decodeJwt(token)["sid"])).toEqual([
      decodeJwt(id_token_hint)["sid"],
    ]);
    expect((await browser.get(`${setup.provider.issuer}/`)).text).toContain(
      "No person is signed in.",
    );
  });
});
