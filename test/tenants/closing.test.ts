import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { createIdpAuth } from "../../src/auth/create-idp-auth.js";
import { providerSource, type IdpRequest } from "../../src/index.js";

it("auth.close() closes the connections to customers' providers, which would stay open for seconds", async () => {
  const server = createServer((_request, response) => {
    const { port } = server.address() as AddressInfo;
    const issuer = `http://127.0.0.1:${String(port)}`;
    const names = ["authorization_endpoint", "token_endpoint", "jwks_uri"];
    const endpoints = names.map((name) => [name, `${issuer}/${name}`]);
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ issuer, ...Object.fromEntries(endpoints) }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connected = once(server, "connection");
  const auth = createIdpAuth<IdpRequest>(
    {
      env: {},
      secretKey: "a secret key of at least 32 bytes",
      log: false,
      providers: providerSource({
        find: () => ({
          issuer: `http://127.0.0.1:${String(port)}`,
          clientId: "client",
          clientSecret: "secret",
        }),
        internalHosts: ["127.0.0.1"],
      }),
    },
    { name: "plain", request: (raw) => raw },
  );
  try {
    const login = await auth.handle({
      method: "GET",
      target: "/idpauth/login/?provider=acme",
      scheme: "http",
      host: "app.example",
      header: (name) => (name === "sec-fetch-site" ? "none" : undefined),
    });
    expect(login?.status).toBe(302);
    const [socket] = (await connected) as [Socket];
    const closed = once(socket, "close", { signal: AbortSignal.timeout(2_000) });
    await auth.close();
    await closed;
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
