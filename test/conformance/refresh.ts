import { expect } from "vitest";
import {
  expectRefreshDoubted,
  expectRefreshRefused,
  expectSignedIn,
  untilExpired,
  userOf,
  withClaims,
} from "./relying-party.js";
import type { ConformanceModule, Plan } from "./relying-party.js";

const PLAN: Plan = "oidcc-client-refreshtoken-test-plan";

/** A module in which the refreshed ID token has a wrong claim. */
function refreshRefused(
  claim: string,
  demands: string,
  claims: Readonly<Record<string, string>>,
  reason: string,
): ConformanceModule {
  return {
    module: `oidcc-client-test-refresh-token-invalid-${claim}`,
    plans: [PLAN],
    demands,
    run: async (stage) =>
      expectRefreshRefused(
        await stage.start(),
        (draft) => ({ claims: { ...draft.claims, ...claims } }),
        reason,
      ),
  };
}

/** A refresh, and the ID token that it brings. */
export const refreshModules: readonly ConformanceModule[] = [
  {
    module: "oidcc-client-test-refresh-token",
    plans: [PLAN],
    demands: "refresh, verify the new ID token, and use the new access token",
    async run(stage) {
      const application = await stage.start({
        routes: (app, auth) => {
          app.get("/token", async (request, response) => {
            response.send((await auth.getCredentials(request))?.token ?? "none");
          });
        },
      });
      const { browser } = await expectSignedIn(application);
      const before = (await browser.get("/token")).text;
      untilExpired(application);
      expect(await userOf(browser)).toMatchObject({ email: "ada@example.com" });
      const after = (await browser.get("/token")).text;
      const { provider } = application;
      expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
      expect(after).not.toBe(before);
      const userinfo = await fetch(`${provider.issuer}/userinfo`, {
        headers: { authorization: `Bearer ${after}` },
      });
      expect([userinfo.status, await userinfo.json()]).toMatchObject([200, { sub: "ada-1815" }]);
      return "one refresh; the application has the new access token, and the provider accepts it";
    },
  },
  refreshRefused(
    "aud",
    "refuse a refreshed ID token whose aud is not the client",
    { aud: "another-client" },
    "id_token_aud",
  ),
  {
    module: "oidcc-client-test-refresh-token-invalid-azp",
    plans: [PLAN],
    demands: "refuse a refreshed ID token with an azp if the ID token of the sign-in had none",
    async run(stage) {
      const application = withClaims(await stage.start(), { azp: undefined });
      return expectRefreshRefused(application, (draft) => draft, "id_token_azp");
    },
  },
  {
    module: "oidcc-client-test-refresh-token-invalid-issuer",
    plans: [PLAN],
    demands: "refuse a refreshed ID token whose iss differs from the iss at the sign-in",
    run: async (stage) =>
      expectRefreshDoubted(
        await stage.start(),
        (draft) => ({ claims: { ...draft.claims, iss: "https://op.evil.example/" } }),
        "id_token_iss",
      ),
  },
  refreshRefused(
    "sub",
    "refuse a refreshed ID token whose sub differs from the sub at the sign-in",
    { sub: "somebody-else" },
    "id_token_sub",
  ),
];
