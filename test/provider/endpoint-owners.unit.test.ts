import { expect, it } from "vitest";
import type { Endpoints } from "../../src/config/endpoints-kind.js";
import { createEndpointOwners } from "../../src/provider/endpoint-owners.js";

const A = "https://a.example";
const B = "https://b.example";

/** Provider b's endpoint that is provider a's, after the documents of both. */
function foreignOf(
  ofB: Endpoints,
  ofA: Endpoints = { token_endpoint: `${A}/token` },
  [issuerOfA, issuerOfB] = [A, B],
) {
  const ownersOf = createEndpointOwners([{ key: "a" }, { key: "b" }]);
  ownersOf("a")?.discovered({ issuer: issuerOfA, metadata: ofA, providerMetadata: {} });
  ownersOf("b")?.discovered({ issuer: issuerOfB, metadata: ofB, providerMetadata: {} });
  return ownersOf("b")?.foreign();
}

it.each(["token", "TOKEN", "token/", "/token", "token//"])(
  "the address %s of another provider is found",
  (path) => {
    expect(foreignOf({ token_endpoint: `${A}/${path}` })).toEqual({
      name: "token_endpoint",
      owner: "a",
    });
  },
);

it.each([`${B}/token`, `${A}/token?tenant=b`, `${A}/other`])("%s is its own", (address) => {
  expect(foreignOf({ token_endpoint: address })).toBeUndefined();
});

it("an address of 300,000 slashes, which a document can contain, holds up no request", () => {
  const slashes = `${B}${"/".repeat(300_000)}x`;
  // Quadratic time would be more than a minute, and the test would exceed its own.
  expect(foreignOf({ token_endpoint: slashes, userinfo_endpoint: slashes })).toBeUndefined();
});

it.each<[string, Endpoints]>([
  ["1.0", { jwks_uri: "https://login.microsoftonline.com/common/discovery/keys" }],
  ["2.0", { userinfo_endpoint: "https://graph.microsoft.com/oidc/userinfo" }],
])("what all tenants of Entra ID have in version %s is nobody's own", (_version, shared) => {
  const issuers: [string, string] = ["https://sts.windows.net/a/", "https://sts.windows.net/b/"];
  expect(foreignOf(shared, shared, issuers)).toBeUndefined();
  const token = { token_endpoint: "https://login.microsoftonline.com/a/oauth2/token" };
  expect(foreignOf(token, token, issuers)?.name).toBe("token_endpoint");
});
