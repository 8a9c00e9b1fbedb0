import { expect, it } from "vitest";
import { EventHub } from "../../src/events/event-hub.js";
import type { TokenTarget } from "../../src/ports/provider.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ISSUER = "https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555/v2.0";

const target = (api: string, scope: string[]): TokenTarget => ({
  api,
  scope,
  audience: [],
  consentLater: false,
});
const TARGETS = [
  target("graph", ["https://graph.microsoft.com/User.Read"]),
  target("orders", ["api://orders/read"]),
];

/**
 * What the token endpoint of Entra ID is sent for a code, a refresh of the session, and one for
 * each API.
 */
async function scopesSent(
  issuer: string,
  targets: readonly TokenTarget[],
): Promise<(string | null)[]> {
  const sent: (string | null)[] = [];
  const clock = new TestClock();
  const provider = createOpenIdProvider({
    settings: {
      clientId: "client",
      clientSecret: "client secret",
      issuer,
      privateKey: null,
      appleTeamId: null,
      certificate: null,
      clientCertificate: null,
      clientAssertionAudience: null,
      scope: ["openid", "email", "offline_access"],
      httpTimeout: 5,
      tokenEndpointAuthMethod: "client_secret_post",
      authorizationParams: {},
      providerMetadata: {},
      discoveryUrl: null,
      userinfo: "when-needed",
    } as unknown as ProviderSettings,
    clock,
    events: new EventHub(() => undefined, clock),
    targets,
    fetch: (address, init) => {
      const url = address as string;
      if (url.endsWith("/token")) {
        sent.push(new URLSearchParams(init?.body as string).get("scope"));
        return Promise.resolve(Response.json({ error: "consent_required" }, { status: 400 }));
      }
      const at = (path: string) => `${issuer}/${path}`;
      const document = {
        issuer,
        authorization_endpoint: at("authorize"),
        token_endpoint: at("token"),
        jwks_uri: at("keys"),
      };
      return Promise.resolve(
        Response.json({
          ...document,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
        }),
      );
    },
  });
  const refresh = { refreshToken: "rt", session: "session", signal: new AbortController().signal };
  await provider
    .exchange({
      code: "code",
      nonce: "nonce",
      verifier: "v".repeat(43),
      redirectUri: "https://app.example/cb",
    })
    .catch(() => 0);
  await provider.refresh(refresh).catch(() => 0);
  for (const one of targets) await provider.refresh({ ...refresh, target: one }).catch(() => 0);
  return sent;
}

it("Entra ID is sent the session's scopes with a code and its refresh, and one API's scopes with each other refresh", async () => {
  const own = "openid email offline_access";
  expect(await scopesSent(ISSUER, TARGETS)).toEqual([
    own,
    own,
    "https://graph.microsoft.com/User.Read",
    "api://orders/read",
  ]);
});

it("Entra ID without APIs, and another provider with them, are sent no scopes for the session", async () => {
  expect(await scopesSent(ISSUER, [])).toEqual([null, null]);
  expect((await scopesSent("https://idp.example", TARGETS)).slice(0, 2)).toEqual([null, null]);
});
