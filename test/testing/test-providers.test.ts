import { expect, it } from "vitest";
import { RunningClock, startTestProviders } from "../../src/testing/index.js";

it("a provider that is added while the application runs is found by its key and its domains", async () => {
  await using providers = await startTestProviders({ acme: { emailDomains: ["acme.example"] } });
  expect(providers.source.find("initech")).toBeUndefined();
  const initech = await providers.add("initech", {
    emailDomains: ["initech.example", "xn--bcher-kva.example"],
  });
  expect(providers.get("initech")).toBe(initech);
  expect(providers.source.find("initech")).toEqual({
    issuer: initech.issuer,
    clientId: "test-client-initech",
    clientSecret: initech.clientSecret,
    emailDomains: ["initech.example", "xn--bcher-kva.example"],
  });
  const { findByEmailDomain } = providers.source;
  expect(
    ["acme.example", "initech.example", "xn--bcher-kva.example", "globex.example"].map(
      findByEmailDomain,
    ),
  ).toEqual(["acme", "initech", "initech", undefined]);
  const document = await fetch(`${initech.issuer}/.well-known/openid-configuration`);
  expect(await document.json()).toMatchObject({ issuer: initech.issuer });
  expect(providers.source.internalHosts).toContain(new URL(initech.issuer).hostname);
});

it("providers of different keys have issuers and clients of their own, and one clock", async () => {
  const clock = new RunningClock();
  await using providers = await startTestProviders({ acme: {}, globex: {} }, { clock });
  const [acme, globex] = [providers.get("acme"), providers.get("globex")];
  expect(acme.issuer).not.toBe(globex.issuer);
  expect([acme.clientId, globex.clientId]).toEqual(["test-client-acme", "test-client-globex"]);
  expect([acme.clock, globex.clock, providers.clock]).toEqual([clock, clock, clock]);
});

it("a removed provider isn't found and doesn't respond, and its key can be used again", async () => {
  await using providers = await startTestProviders({ acme: {} });
  const { issuer } = providers.get("acme");
  await providers.remove("acme");
  expect(providers.source.find("acme")).toBeUndefined();
  expect(() => providers.get("acme")).toThrow(
    'There is no provider under the key "acme". Running: none.',
  );
  await expect(fetch(`${issuer}/jwks`)).rejects.toThrow();
  await providers.add("acme");
  expect(providers.source.find("acme")).toBeDefined();
});

it("a key is used once, even if both are added at the same time", async () => {
  await using providers = await startTestProviders();
  const both = await Promise.allSettled([providers.add("acme"), providers.add("acme")]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await expect(providers.add("acme")).rejects.toThrow(
    'There is a provider under the key "acme" already.',
  );
});

it("a client with a key of its own has no secret", async () => {
  await using providers = await startTestProviders();
  await providers.add("acme", { clientJwks: [] });
  expect(providers.source.find("acme")).toMatchObject({ clientSecret: undefined });
});

it("a client with a certificate has no secret, and one whose tokens have to be bound is told so", async () => {
  await using providers = await startTestProviders();
  const names = { subjectDn: "CN=acme" };
  await providers.add("acme", { tls: true, tlsClientAuth: { names } });
  await providers.add("globex", { dpop: "required" });
  const [acme, globex] = ["acme", "globex"].map((key) => providers.source.find(key));
  expect(acme).toMatchObject({ clientSecret: undefined });
  expect([acme?.dpop, globex?.dpop]).toEqual([undefined, true]);
});

it("stopping stops all providers, and rejects if one has seen a violation", async () => {
  const providers = await startTestProviders({ acme: {}, globex: {} });
  const { issuer } = providers.get("globex");
  providers.get("acme").violations.push("a code was used twice");
  await expect(providers.stop()).rejects.toThrow("a code was used twice");
  await expect(fetch(`${issuer}/jwks`)).rejects.toThrow();
});

it("if one of the first providers can't start, the others are stopped", async () => {
  const options = { acme: {}, globex: { issuerPath: "no path" } };
  await expect(startTestProviders(options)).rejects.toThrow("`issuerPath`");
});
