import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { signIn, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { startHttpsFront, type HttpsFront } from "../browser/https-front.js";
import { PREPARATION } from "../recipes/recipe.js";
import { buildPackage } from "../support/build.js";
import { startConnectProxy, type ConnectProxy } from "../support/connect-proxy.js";

// What docs/providers/index.md says about a proxy for outgoing requests, with a Node.js that has
// NODE_USE_ENV_PROXY.

const ROOT = path.resolve(import.meta.dirname, "../..");
const APPLICATION = `
import express from "express";
import { idpAuth } from "idpauth/express";
const app = express();
idpAuth({ log: false }).mount(app);
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

describe("NODE_USE_ENV_PROXY", () => {
  let provider: TestProvider;
  let front: HttpsFront;
  let proxy: ConnectProxy;
  let folder: string;
  let settings: Readonly<Record<string, string>>;

  beforeEach(async () => {
    await buildPackage();
    provider = await startTestProvider();
    proxy = await startConnectProxy();
    const certificate = createCertificate({ name: "localhost" });
    front = await startHttpsFront(certificate);
    front.target = provider.issuer;
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-env-proxy-"));
    const file = path.join(folder, "localhost.pem");
    writeFileSync(file, certificate.cert);
    settings = {
      ...provider.env,
      // Only a tunnel (CONNECT) reaches an https address.
      IDP_DISCOVERY_URL: `${front.origin}/.well-known/openid-configuration`,
      NODE_EXTRA_CA_CERTS: file,
      HTTPS_PROXY: proxy.url,
      HTTP_PROXY: proxy.url,
    };
  }, PREPARATION);
  afterEach(async () => {
    await proxy.stop();
    await front.close();
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Signs a user in at an application of its own process. Returns where the proxy led. */
  async function proxied(env: Readonly<Record<string, string>>): Promise<string[]> {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", APPLICATION], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], ...settings, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [port] = (await once(child.stdout, "data")) as [Buffer];
      const user = await signIn(`http://127.0.0.1:${port.toString().trim()}`);
      expect((await user.get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
      return [...new Set(proxy.targets)].toSorted();
    } finally {
      child.kill();
      await once(child, "exit");
    }
  }

  it("sends the discovery of a sign-in through a tunnel of the proxy, and the other requests through the proxy", async () => {
    const both = [new URL(front.origin).host, new URL(provider.issuer).host].toSorted();
    expect(await proxied({ NODE_USE_ENV_PROXY: "1" })).toEqual(both);
  });

  it("leaves out what NO_PROXY lists", async () => {
    const env = { NODE_USE_ENV_PROXY: "1", NO_PROXY: "127.0.0.1,localhost" };
    expect(await proxied(env)).toEqual([]);
  });

  it("is needed: without it, Node.js ignores the proxy", async () => {
    expect(await proxied({})).toEqual([]);
  });
});
