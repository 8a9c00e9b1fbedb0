import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatScan, scan } from "../../scripts/secret-scan.mjs";

const RECORD = new URL("./record.mjs", import.meta.url).href;
const TOKEN = "tok_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const STATE = "sta_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const NONCE = "non_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const VERIFIER = "ver_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const COOKIE = "coo_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const JWT =
  "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEtMTgxNSIsIm5vbmNlIjoieCJ9.c2lnbmF0dXJlLXRoYXQtaXMtbG9uZy1lbm91Z2g";
const PROOF =
  "eyJ0eXAiOiJkcG9wK2p3dCJ9.eyJqdGkiOiJhLXByb29mLW9mLW9uZS1yZXF1ZXN0In0.c2lnbmF0dXJlLW9mLWEtcHJvb2Y";
const DEMANDED = "dem_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abc";
const SIGNED =
  "eyJhbGciOiJQUzI1NiJ9.eyJjb2RlIjoiYS1jb2RlLWluLWEtc2lnbmVkLXJlc3BvbnNlIn0.c2lnbmF0dXJlLW9mLWEtcmVzcG9uc2U";
const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
const CERTIFICATE_KEY = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const CERTIFICATE_PEM = CERTIFICATE_KEY.export({ type: "pkcs8", format: "pem" }).toString();
const AUTHORIZE = `http://idp.example/authorize?state=${STATE}&nonce=${NONCE}&code_challenge=x`;
const CALLBACK = `https://shop.example/idpauth/login-callback/acme?state=${STATE}&iss=x`;
const LOGOUT = `http://idp.example/end?id_token_hint=${JWT}&client_id=a&post_logout_redirect_uri=b&state=c`;

/**
 * Runs one process of an application under the record: a provider, and an answer of the component's
 * own with these parts.
 */
async function leaking({
  body = "",
  head = {},
  more = "",
}: {
  body?: string;
  head?: Record<string, string>;
  more?: string;
}) {
  const program = `
    import { createServer } from "node:http";
    import { channel } from "node:diagnostics_channel";
    import tls from "node:tls";
    const server = createServer((request, response) => {
      if (request.url === "/token") {
        response.setHeader("content-type", "application/json");
        response.setHeader("DPoP-Nonce", "${DEMANDED}");
        response.end(JSON.stringify({ access_token: "${TOKEN}", id_token: "${JWT}" }));
        return;
      }
      if (request.url === "/authorize") {
        response.writeHead(302, { Location: "https://shop.example/idpauth/login-callback?response=${SIGNED}" });
        response.end();
        return;
      }
      response.writeHead(200, {
        "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Set-Cookie": "idpauth=${COOKIE}; Path=/",
        ...${JSON.stringify(head)},
      });
      response.end(${JSON.stringify(body)});
    });
    server.listen(0, "127.0.0.1", async () => {
      const origin = "http://127.0.0.1:" + server.address().port;
      const form = new URLSearchParams({ grant_type: "authorization_code", code_verifier: "${VERIFIER}", client_secret: "odd:secret+é" });
      const headers = { dpop: "${PROOF}" };
      await (await fetch(origin + "/token", { method: "POST", body: form, headers })).text();
      await fetch(origin + "/authorize", { redirect: "manual" });
      const key = ${JSON.stringify(KEY)};
      await crypto.subtle.importKey("jwk", key, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
      const connection = { host: "127.0.0.1", port: server.address().port, key: ${JSON.stringify(CERTIFICATE_PEM)} };
      tls.connect(connection).on("error", () => undefined).destroy();
      await (await fetch(origin + "/idpauth/")).text();
      ${more}
      server.close();
    });`;
  await promisify(execFile)(
    process.execPath,
    ["--import", RECORD, "--input-type=module", "-e", program],
    {
      env: { PATH: process.env["PATH"], SECRET_SCAN_FOLDER: folder },
    },
  );
  return scan(folder);
}

let folder: string;
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "idpauth-scan-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

async function emptyFolder(): Promise<void> {
  await rm(folder, { recursive: true });
  folder = await mkdtemp(path.join(tmpdir(), "idpauth-scan-"));
}

describe("the secret scan finds", () => {
  it.each<[string, Parameters<typeof leaking>[0], { kind: string; where: string }]>([
    [
      "an access token in a page",
      { body: `<p>${TOKEN}</p>` },
      { kind: "access_token", where: "body" },
    ],
    [
      "the payload of an ID token alone",
      { body: JWT.split(".")[1] ?? "" },
      { kind: "id_token", where: "body" },
    ],
    [
      "a token written for a URL",
      { head: { Location: `/?t=%22${TOKEN}%22` } },
      { kind: "access_token", where: "head" },
    ],
    [
      "a token in a cookie",
      { head: { "Set-Cookie": `t=${TOKEN}` } },
      { kind: "access_token", where: "set-cookie" },
    ],
    ["a verifier", { body: VERIFIER }, { kind: "code_verifier", where: "body" }],
    [
      "a client secret of odd characters",
      { body: "odd:secret+é" },
      { kind: "client_secret", where: "body" },
    ],
    [
      "the same written as in a form",
      { body: "client_secret=odd%3Asecret%2B%C3%A9&x=1" },
      { kind: "client_secret", where: "body" },
    ],
    [
      "a token after an escaped line end",
      { body: JSON.stringify(`a\n${TOKEN}`) },
      { kind: "access_token", where: "body" },
    ],
    [
      "the state outside the authorization URL",
      { head: { Location: AUTHORIZE }, body: STATE },
      { kind: "state", where: "body" },
    ],
    [
      "the nonce outside the authorization URL",
      { head: { Location: AUTHORIZE }, body: NONCE },
      { kind: "nonce", where: "body" },
    ],
    [
      "a token inside the authorization URL",
      { head: { Location: `${AUTHORIZE}&hint=${TOKEN}` } },
      { kind: "access_token", where: "head" },
    ],
    [
      "an ID token in a hint outside a redirect",
      { body: LOGOUT },
      { kind: "id_token", where: "body" },
    ],
    [
      "an access token beside the hint",
      { head: { Location: LOGOUT.replace("state=", `t=${TOKEN}&state=`) } },
      { kind: "access_token", where: "head" },
    ],
    [
      "a proof on the console",
      { more: `console.log("${PROOF}");` },
      { kind: "dpop_proof", where: "output" },
    ],
    [
      "the payload of a proof alone",
      { body: PROOF.split(".")[1] ?? "" },
      { kind: "dpop_proof", where: "body" },
    ],
    [
      "a demanded nonce that is passed on",
      { head: { "DPoP-Nonce": DEMANDED } },
      { kind: "dpop_nonce", where: "head" },
    ],
    [
      "the key of a session in an event",
      { more: `channel("idpauth:refresh").publish({ key: "${KEY.d ?? ""}" });` },
      { kind: "dpop_key", where: "event" },
    ],
    [
      "a signed response in a log line",
      { more: `channel("idpauth:log").publish({ message: "${SIGNED}" });` },
      { kind: "response", where: "log" },
    ],
    [
      "the key of a certificate as PEM",
      { body: CERTIFICATE_PEM },
      { kind: "client_certificate_key", where: "body" },
    ],
    [
      "the key of a certificate as a JWK",
      { body: JSON.stringify(CERTIFICATE_KEY.export({ format: "jwk" })) },
      { kind: "client_certificate_key", where: "body" },
    ],
    ["the cookie's value in a page", { body: COOKIE }, { kind: "cookie", where: "body" }],
    [
      "a token in a log line",
      { more: `channel("idpauth:log").publish({ message: "${TOKEN}" });` },
      { kind: "access_token", where: "log" },
    ],
    [
      "a token in an event",
      { more: `channel("idpauth:login").publish({ x: "${TOKEN}" });` },
      { kind: "access_token", where: "event" },
    ],
    [
      "a token on the console",
      { more: `console.log("${TOKEN}");` },
      { kind: "access_token", where: "output" },
    ],
  ])("%s", async (_name, parts, leak) => {
    const { leaks } = await leaking(parts);
    // Where a percent-encoded text is read both ways, once is enough.
    expect(leaks).toContainEqual(expect.objectContaining(leak));
    expect(new Set(leaks.map(({ kind }) => kind))).toEqual(new Set([leak.kind]));
  });

  it("nothing where each is in its place, and says what it searched", async () => {
    expect((await leaking({ head: { Location: LOGOUT } })).leaks).toEqual([]);
    await emptyFolder();
    // The authorization request has made the state known.
    const sentOn = await leaking({ head: { Location: CALLBACK, "X-Request": AUTHORIZE } });
    expect(sentOn.leaks).toEqual([]);
    await emptyFolder();
    const response = CALLBACK.replace(/\?.*/, `?response=${SIGNED}`);
    expect((await leaking({ head: { Location: response } })).leaks).toEqual([]);
    await emptyFolder();
    const elsewhere = CALLBACK.replace("login-callback", "elsewhere");
    expect(
      (await leaking({ head: { Location: elsewhere, "X-Request": AUTHORIZE } })).leaks,
    ).toContainEqual(expect.objectContaining({ kind: "state", where: "head" }));
    await emptyFolder();
    const result = await leaking({
      head: { Location: AUTHORIZE },
      body: JSON.stringify({ redirect_to: AUTHORIZE }),
    });
    expect(result.leaks).toEqual([]);
    expect(result.secrets).toEqual({
      access_token: 1,
      id_token: 1,
      client_secret: 1,
      code_verifier: 1,
      dpop_proof: 1,
      dpop_nonce: 1,
      dpop_key: 1,
      response: 1,
      client_certificate_key: expect.any(Number) as number,
      cookie: 1,
      state: 1,
      nonce: 1,
    });
    expect(result.looked).toMatchObject({ head: 1, body: 1, "set-cookie": 1 });
  });

  it("and repeats no secret in its report", async () => {
    const report = formatScan(
      await leaking({ body: `${TOKEN} ${JWT} ${TOKEN}`, more: `console.log("${VERIFIER}");` }),
    );
    expect(report).toContain("found: 5");
    // Nor the beginning or end of one that stands beside another.
    for (const secret of [TOKEN, VERIFIER, ...JWT.split(".").slice(1)]) {
      expect(report).not.toContain(secret.slice(0, 20));
      expect(report).not.toContain(secret.slice(-20));
    }
  });
});
