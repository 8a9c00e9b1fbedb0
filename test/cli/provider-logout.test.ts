import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { readProviderUsage } from "../../src/cli/provider/provider-usage.js";
import { CookieBrowser, type BrowserResponse } from "../../src/testing/browser/cookie-browser.js";
import { buttonsIn, submission } from "../support/choose-person.mjs";
import { emptyFolder, startProvider, type RunningProvider } from "./provider-run.js";

const CALLBACK = "http://localhost:3000/idpauth/login-callback";
const VERIFIER = "v".repeat(43);

/** Signs a person in and returns the token reply. */
async function signIn(
  provider: RunningProvider,
  name: string,
  scope = "openid",
): Promise<Record<string, string>> {
  const { IDP_CLIENT_ID: client_id = "", IDP_CLIENT_SECRET: client_secret = "" } = provider.env;
  const code_challenge = createHash("sha256").update(VERIFIER).digest("base64url");
  const asked = {
    client_id,
    redirect_uri: CALLBACK,
    response_type: "code",
    scope,
    code_challenge,
    code_challenge_method: "S256",
  };
  const page = await new CookieBrowser().navigate(
    `${provider.issuer}/authorize?${new URLSearchParams(asked).toString()}`,
  );
  const callback = new URL((await press(page, name)).location ?? "");
  const code = callback.searchParams.get("code") ?? "";
  const body = new URLSearchParams({
    ...{
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      client_id,
      client_secret,
    },
  });
  return (await fetch(`${provider.issuer}/token`, { method: "POST", body })).json() as Promise<
    Record<string, string>
  >;
}

function press(page: BrowserResponse, words: string): Promise<BrowserResponse> {
  const { url, ...options } = submission(page, words);
  return new CookieBrowser().get(url, options);
}

const home = (provider: RunningProvider) => new CookieBrowser().get(`${provider.issuer}/`);
const sessionsOn = ({ text }: BrowserResponse) => buttonsIn(text).map(({ value }) => value);
const noticeOn = ({ text }: BrowserResponse) => /<p role="status">(.*?)<\/p>/s.exec(text)?.[1];

function endSession(
  provider: RunningProvider,
  parameters: Readonly<Record<string, string>>,
): Promise<BrowserResponse> {
  return new CookieBrowser().get(
    `${provider.issuer}/end-session?${new URLSearchParams(parameters).toString()}`,
  );
}

/** An application's back-channel logout address. `tokens`: those it has received. */
async function listen(
  status = 200,
): Promise<{ readonly address: string; readonly tokens: string[] }> {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      tokens.push(new URLSearchParams(body).get("logout_token") ?? "");
      response.writeHead(status, { Connection: "close" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}/idpauth/backchannel-logout`,
    tokens,
  };
}

describe("the page of `idpauth provider`", () => {
  it("lists the people who are signed in, and ends the session of one with a logout token", async () => {
    const { address, tokens } = await listen();
    const provider = await startProvider(["--port=0", `--backchannel-logout-uri=${address}`], {
      folder: emptyFolder(),
    });
    expect(sessionsOn(await home(provider))).toEqual([]);
    const online = await signIn(provider, "Ada");
    const offline = await signIn(provider, "Ada", "openid offline_access");
    await signIn(provider, "Grace");
    const page = await home(provider);
    expect(buttonsIn(page.text).map(({ value, text }) => [value, text])).toEqual([
      ["ada", "End the session"],
      ["grace", "End the session"],
    ]);
    expect(page.text).not.toContain("<script");
    const ended = await press(page, "End the session");
    expect(sessionsOn(ended)).toEqual(["grace"]);
    expect(noticeOn(ended)).toBe(
      "The session of Ada Lovelace at the provider has ended. The application responded to the logout token with the status 200.",
    );
    expect(tokens).toHaveLength(1);
    const { payload } = await jwtVerify(
      tokens[0] ?? "",
      createRemoteJWKSet(new URL(`${provider.issuer}/jwks`)),
      {
        ...{
          issuer: provider.issuer,
          audience: provider.env["IDP_CLIENT_ID"] ?? "",
          typ: "logout+jwt",
        },
      },
    );
    const { sid } = decodeJwt<{ sid: string }>(online["id_token"] ?? "");
    expect(payload).toMatchObject({ sub: "ada", sid });
    expect(decodeJwt(offline["id_token"] ?? "")["sid"]).toBe(sid);
    expect(decodeJwt((await signIn(provider, "Ada"))["id_token"] ?? "")["sid"]).not.toBe(sid);
  });

  it.each<[string, (address: string) => string[], number, string]>([
    [
      "without --backchannel-logout-uri",
      () => [],
      200,
      "The provider did not send a logout token, because it was started without",
    ],
    [
      "to an application that refuses the token",
      (address) => [`--backchannel-logout-uri=${address}`],
      400,
      "The application responded to the logout token with the status 400.",
    ],
    [
      "to an application that does not run",
      () => ["--backchannel-logout-uri=http://127.0.0.1:1/"],
      200,
      "The application did not respond to the logout token. Check --backchannel-logout-uri.",
    ],
  ])("says what came of the logout token %s", async (_case, argv, status, words) => {
    const { address } = await listen(status);
    const provider = await startProvider(["--port=0", ...argv(address)], { folder: emptyFolder() });
    await signIn(provider, "Grace");
    const ended = await press(await home(provider), "End the session");
    expect(noticeOn(ended)).toContain(words);
    expect(sessionsOn(ended)).toEqual([]);
  });

  it("accepts the button from its own page only", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    await signIn(provider, "Ada");
    const { url, ...options } = submission(await home(provider), "End the session");
    const foreign = await new CookieBrowser().get(url, {
      ...options,
      headers: { ...options.headers, "sec-fetch-site": "cross-site" },
    });
    expect(foreign.status).toBe(403);
    expect(sessionsOn(await home(provider))).toEqual(["ada"]);
  });

  it("lists the same people after a restart", async () => {
    const folder = emptyFolder();
    const first = await startProvider(["--port=0", "--data=state.json"], { folder });
    const { sid } = decodeJwt<{ sid: string }>((await signIn(first, "Ada"))["id_token"] ?? "");
    await first.stop();
    const second = await startProvider(["--port=0", "--data=state.json"], { folder });
    expect(sessionsOn(await home(second))).toEqual(["ada"]);
    expect(decodeJwt((await signIn(second, "Ada"))["id_token"] ?? "")["sid"]).toBe(sid);
  });
});

describe("the end session endpoint of `idpauth provider`", () => {
  it("ends the session of the hint and goes back to the application", async () => {
    const { address, tokens } = await listen();
    const provider = await startProvider(["--port=0", `--backchannel-logout-uri=${address}`], {
      folder: emptyFolder(),
    });
    const { id_token = "" } = await signIn(provider, "Ada");
    await signIn(provider, "Grace");
    const post_logout_redirect_uri = "http://localhost:3000/idpauth/logout-callback";
    const { status, location } = await endSession(provider, {
      id_token_hint: id_token,
      post_logout_redirect_uri,
      state: "s",
    });
    expect([status, location]).toEqual([302, `${post_logout_redirect_uri}?state=s`]);
    expect(sessionsOn(await home(provider))).toEqual(["grace"]);
    expect(tokens.map((token) => decodeJwt(token).sub)).toEqual(["ada"]);
  });

  it("shows the users who are signed in if the request names no user", async () => {
    const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
    await signIn(provider, "Ada");
    const page = await endSession(provider, { client_id: provider.env["IDP_CLIENT_ID"] ?? "" });
    expect(sessionsOn(page)).toEqual(["ada"]);
    expect(noticeOn(page)).toBe("The application did not say whose session to end.");
  });

  it.each<[string, string[], Record<string, string>, string]>([
    ["another client", [], { client_id: "another" }, "client_id names another client"],
    [
      "a hint that is no ID token",
      [],
      { id_token_hint: "a.b.c" },
      "id_token_hint has a wrong signature",
    ],
    ["a token in the URL", [], { id_token: "a.b.c" }, "id_token in the URL"],
    [
      "an address on another machine",
      [],
      { post_logout_redirect_uri: "https://app.example/" },
      "only addresses on this machine",
    ],
    [
      "an address of another origin than --redirect-uri",
      ["--redirect-uri=https://app.example/idpauth/login-callback"],
      { post_logout_redirect_uri: "http://localhost:3000/" },
      "--redirect-uri",
    ],
  ])("refuses %s with a page", async (_case, argv, parameters, words) => {
    const provider = await startProvider(["--port=0", ...argv], { folder: emptyFolder() });
    const page = await endSession(provider, {
      client_id: provider.env["IDP_CLIENT_ID"] ?? "",
      ...parameters,
    });
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.text).toContain(words);
  });
});

it.each(["/logout", "https://app.example.com/", "ftp://localhost/", "http://localhost:3000/#a"])(
  "--backchannel-logout-uri=%s is wrong usage",
  (uri) => {
    expect(readProviderUsage([`--backchannel-logout-uri=${uri}`])).toEqual({
      mistake:
        `--backchannel-logout-uri is ${JSON.stringify(uri)}; write an address on this machine, such as ` +
        "http://localhost:3000/idpauth/backchannel-logout",
    });
  },
);
