import dns from "node:dns";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";

type Certificate = ReturnType<typeof createCertificate>;

/** Known to the resolver of this test alone. */
const HOST = "idp.example";

describe("[F14] the provider over TLS", () => {
  let authority: Certificate;
  let certificates: Record<"good" | "expired" | "of another host" | "self-signed", Certificate>;
  let server: Server;
  let requests: string[];
  let run: WatchedRun;
  let resolve: (host: string) => string | undefined;
  const lookup = dns.lookup;

  beforeAll(async () => {
    // The runtime brings its dispatcher with the first use of fetch.
    await fetch("data:,");
    authority = createCertificate({ name: "Test CA", isAuthority: true });
    const yesterday = Date.now() - 86_400_000;
    certificates = {
      good: createCertificate({ name: HOST, authority }),
      expired: createCertificate({
        name: HOST,
        authority,
        from: yesterday - 86_400_000,
        until: yesterday,
      }),
      "of another host": createCertificate({ name: "other.example", authority }),
      "self-signed": createCertificate({ name: HOST }),
    };
  });

  beforeEach(async () => {
    requests = [];
    resolve = () => "127.0.0.1";
    server = createServer(certificates.good, (request, response) => {
      requests.push(request.url ?? "");
      const issuer = issuerOf(server);
      const isDiscovery = request.url === "/.well-known/openid-configuration";
      const body = isDiscovery
        ? {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
          }
        : { error: "invalid_grant" };
      response
        .writeHead(isDiscovery ? 200 : 400, { "Content-Type": "application/json" })
        .end(JSON.stringify(body));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    // Only the test's own host is answered by the stub; the rest goes where it always goes.
    dns.lookup = ((host: string, ...rest: unknown[]) => {
      if (host !== HOST) {
        (lookup as (...all: unknown[]) => void)(host, ...rest);
        return;
      }
      const [options, callback] = (rest.length === 1 ? [{}, rest[0]] : rest) as [
        { all?: boolean },
        (...result: unknown[]) => void,
      ];
      const address = resolve(host);
      setImmediate(() => {
        if (address === undefined)
          callback(
            Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" }),
          );
        else if (options.all === true) callback(null, [{ address, family: 4 }]);
        else callback(null, address, 4);
      });
    }) as typeof dns.lookup;
  });

  afterEach(async () => {
    dns.lookup = lookup;
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await run.finish();
  });

  function issuerOf(at: Server): string {
    return `https://${HOST}:${String((at.address() as AddressInfo).port)}`;
  }

  /**
   * The runtime's own fetch, which also trusts the test's authority; all other checks are its own.
   */
  function trustingFetch(): typeof fetch {
    const symbol = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
      description?.startsWith("undici.globalDispatcher"),
    );
    if (symbol === undefined) throw new Error("this runtime's fetch shows no dispatcher");
    const { constructor: Agent } = (
      globalThis as unknown as Record<symbol, { constructor: new (options: object) => object }>
    )[symbol]!;
    const dispatcher = new Agent({ connect: { ca: authority.cert } });
    return (input, init) => fetch(input, { ...init, dispatcher } as RequestInit);
  }

  async function start(isTrusted: boolean): Promise<void> {
    run = await startWatchedRun({
      issuer: issuerOf(server),
      ...(isTrusted && { fetch: trustingFetch() }),
    });
  }

  const refusals = () =>
    run.log
      .filter(({ code }) => code === "provider_unavailable")
      .map(({ details }) => details?.reason);

  it("[F14] a good certificate of a trusted authority is accepted, so that the refusals below mean what they say", async () => {
    await start(true);
    const user = run.user();
    const login = await user.get("/idpauth/login/");
    expect([login.status, new URL(login.location).origin]).toEqual([302, issuerOf(server)]);
    const state = new URL(login.location).searchParams.get("state") ?? "";
    expect((await user.get(`/idpauth/login-callback?code=x&state=${state}`)).status).toBe(400);
    expect(requests).toEqual(["/.well-known/openid-configuration", "/token"]);
  });

  it.each([
    ["expired", true],
    ["of another host", true],
    ["self-signed", true],
    ["good", false],
  ] as const)(
    "[F14] a certificate that is %s, its authority trusted: %s: refused before anything is sent",
    async (name, isTrusted) => {
      server.setSecureContext(certificates[name]);
      await start(isTrusted);
      const answer = await run.user().get("/idpauth/login/");
      expect([answer.status, answer.setCookies ?? []]).toEqual([503, []]);
      expect(requests).toEqual([]);
      expect(refusals()).toEqual(["certificate"]);
      expect(run.store.inserted).toEqual([]);
    },
  );

  it.each(["expired", "of another host", "self-signed"] as const)(
    "[F14] a certificate that is %s since the login: the code is not sent, and nobody is signed in",
    async (name) => {
      await start(true);
      const user = run.user();
      const login = await user.get("/idpauth/login/");
      const state = new URL(login.location).searchParams.get("state") ?? "";
      server.setSecureContext(certificates[name]);
      server.closeAllConnections();
      expect((await user.get(`/idpauth/login-callback?code=x&state=${state}`)).status).toBe(503);
      expect(requests).toEqual(["/.well-known/openid-configuration"]);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("[F15] a name that is not found: 503, nothing stored, and it works once it is", async () => {
    resolve = () => undefined;
    await start(true);
    const user = run.user();
    expect((await user.get("/idpauth/login/")).status).toBe(503);
    expect(refusals()).toEqual(["network"]);
    expect(run.store.inserted).toEqual([]);
    resolve = () => "127.0.0.1";
    run.clock.advance(2_000);
    expect((await user.get("/idpauth/login/")).status).toBe(302);
  });

  it.skipIf(process.platform !== "linux")(
    "[F15] a name that resolves to another server in the private network: it is sent nothing, since its certificate has another name",
    async () => {
      const inside: string[] = [];
      const other = createServer(certificates["of another host"], (request, response) => {
        inside.push(request.url ?? "");
        response.end("{}");
      });
      await start(true);
      const user = run.user();
      const login = await user.get("/idpauth/login/");
      const state = new URL(login.location).searchParams.get("state") ?? "";
      const { port } = server.address() as AddressInfo;
      await new Promise<void>((done) => other.listen(port, "127.0.0.2", done));
      resolve = () => "127.0.0.2";
      server.closeAllConnections();
      expect((await user.get(`/idpauth/login-callback?code=x&state=${state}`)).status).toBe(503);
      expect(inside).toEqual([]);
      other.closeAllConnections();
      await new Promise((done) => other.close(done));
    },
  );
});
