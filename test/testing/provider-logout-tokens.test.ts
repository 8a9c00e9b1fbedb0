import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import {
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { LogoutClient } from "./logout-client.js";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

let provider: TestProvider;
let clock: TestClock;
let client: LogoutClient;
let application: Server | undefined;

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new TestClock();
  provider = await startTestProvider({ clock, pkce: "ignored", ...options });
  client = new LogoutClient(provider);
}

afterEach(async () => {
  application?.close();
  application = undefined;
  await provider.stop();
});

/** An application that records the bodies sent to its back-channel logout address. */
async function listen(status = 200): Promise<string[]> {
  const bodies: string[] = [];
  application = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(status, { "Content-Type": "text/plain", Connection: "close" }).end("seen");
    });
  });
  await new Promise<void>((resolve) => application?.listen(0, "127.0.0.1", resolve));
  const { port } = application.address() as AddressInfo;
  provider.settings.backchannelLogoutUri = `http://127.0.0.1:${String(port)}/backchannel-logout`;
  return bodies;
}

const sidOf = ({ id_token = "" }: Record<string, string>) =>
  decodeJwt<Record<string, unknown>>(id_token)["sid"];

describe("logout tokens", () => {
  const verified = (token: string) =>
    jwtVerify(token, createRemoteJWKSet(new URL(`${provider.issuer}/jwks`)), {
      issuer: provider.issuer,
      audience: provider.clientId,
      typ: "logout+jwt",
      currentDate: new Date(clock.now()),
    });

  it("have the claims of the specification", async () => {
    await start();
    const sid = sidOf(await client.signIn());
    const { payload } = await verified(provider.logoutToken());
    const iat = Math.floor(clock.now() / 1000);
    expect(payload).toEqual({
      iss: provider.issuer,
      aud: provider.clientId,
      iat,
      exp: iat + 120,
      jti: expect.stringMatching(/^[\w-]{22}$/) as string,
      events: { [EVENT]: {} },
      sub: "ada-1815",
      sid,
    });
  });

  it("name what the test names, and can be changed in every part", async () => {
    await start();
    const named = (token: string) => {
      const { sub, sid } = decodeJwt<Record<string, unknown>>(token);
      return { sub, sid };
    };
    expect(named(provider.logoutToken({ sub: "grace" }))).toEqual({ sub: "grace" });
    expect(named(provider.logoutToken({ sid: "laptop" }))).toEqual({ sid: "laptop" });
    const changed = provider.logoutToken({
      iat: 1,
      claims: { events: undefined, nonce: "n" },
      header: { alg: "HS256", typ: undefined },
      key: Buffer.from("secret"),
    });
    expect(decodeProtectedHeader(changed)).toEqual({
      alg: "HS256",
      kid: provider.jwks.document().keys[0]?.["kid"],
    });
    expect(decodeJwt(changed)).toMatchObject({ iat: 1, exp: 121, nonce: "n" });
    expect(decodeJwt(changed)).not.toHaveProperty("events");
    expect(provider.issued.at(-1)).toEqual({ kind: "logout_token", value: changed });
  });

  it("sendLogoutToken posts a token and gives the response", async () => {
    await start();
    const bodies = await listen(400);
    const response = await provider.sendLogoutToken({ sub: "grace" });
    await provider.sendLogoutToken("a.b.c");
    expect([response.status, response.headers.get("content-type"), response.body]).toEqual([
      400,
      "text/plain",
      "seen",
    ]);
    expect(bodies).toEqual([
      `logout_token=${provider.issued.at(-1)?.value ?? ""}`,
      "logout_token=a.b.c",
    ]);
  });

  it("endSession ends the sessions of a user, or the one with a sid, and sends a token for each", async () => {
    await start();
    const bodies = await listen();
    for (const sid of ["laptop", "phone", "tablet"])
      await client.signIn({}, { sub: "ada-1815", sid });
    const sent = () =>
      bodies
        .splice(0)
        .map((body) => decodeJwt(new URLSearchParams(body).get("logout_token") ?? "")["sid"]);
    expect((await provider.endSession("phone")).map(({ status }) => status)).toEqual([200]);
    expect(sent()).toEqual(["phone"]);
    await provider.endSession("ada-1815");
    expect(sent().sort()).toEqual(["laptop", "tablet"]);
    expect(provider.signedIn.size).toBe(0);
    await expect(provider.endSession("ada-1815")).rejects.toThrow(
      "The provider has no session with the sub or sid",
    );
  });

  it("the end session endpoint sends them too, and goes on if the application fails", async () => {
    await start();
    const bodies = await listen(500);
    await client.signIn();
    expect((await client.endSession({})).status).toBe(200);
    expect(bodies).toHaveLength(1);
    provider.settings.backchannelLogoutUri = "http://127.0.0.1:1/";
    await client.signIn();
    expect((await client.endSession({})).status).toBe(200);
  });

  it("go to this machine alone", async () => {
    await start();
    await expect(provider.sendLogoutToken()).rejects.toThrow(
      "Set `provider.settings.backchannelLogoutUri`",
    );
    provider.settings.backchannelLogoutUri = "https://app.example.com/backchannel-logout";
    await expect(provider.sendLogoutToken()).rejects.toThrow("which isn't on this machine");
  });

  it.each<[string, () => unknown, string]>([
    [
      "a member that a logout token does not have",
      () => provider.logoutToken({ subject: "ada" } as object),
      'A logout token has no "subject"',
    ],
    [
      "a sub that is no text",
      () => provider.logoutToken({ sub: 1 } as unknown as object),
      "A logout token: `sub` must be a string.",
    ],
    [
      "an address that is none",
      () => (provider.settings.backchannelLogoutUri = "/logout"),
      "`backchannelLogoutUri` must be an absolute URL",
    ],
    [
      "parameters that are none",
      () => (provider.settings.frontchannelLogoutParams = ["issuer"] as unknown as ["iss"]),
      'must be a list of "iss" and "sid".',
    ],
  ])("%s throws", async (_name, act, message) => {
    await start();
    expect(act).toThrow(message);
  });
});
