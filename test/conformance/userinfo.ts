import { expect } from "vitest";
import { BASIC, expectSignedIn, signIn, userOf, type ConformanceModule } from "./relying-party.js";

/** The requests of a sign-in: authorization, token and userinfo. */
export const userinfoModules: readonly ConformanceModule[] = [
  {
    module: "oidcc-client-test",
    plans: [BASIC],
    demands: "complete the code flow: authorization, token and userinfo request",
    async run(stage) {
      const application = await stage.start();
      await expectSignedIn(application);
      const { provider } = application;
      expect(
        (["authorize", "token", "userinfo"] as const).map(
          (endpoint) => provider.requestsTo(endpoint).length,
        ),
      ).toEqual([1, 1, 1]);
      return "signed in; one authorization, one token and one userinfo request";
    },
  },
  {
    module: "oidcc-client-test-client-secret-basic",
    plans: [BASIC],
    demands: "authenticate with client_secret_basic",
    async run(stage) {
      const application = await stage.start({
        tokenEndpointAuthMethod: "client_secret_basic",
        provider: { tokenEndpointAuthMethods: ["client_secret_basic"] },
      });
      await expectSignedIn(application);
      const [request] = application.provider.requestsTo("token");
      expect(request?.headers.authorization).toMatch(/^Basic /);
      expect(request?.params.has("client_secret")).toBe(false);
      return "signed in; the secret was only in the Basic header";
    },
  },
  {
    module: "oidcc-client-test-scope-userinfo-claims",
    plans: [BASIC],
    demands: "request claims by scopes, and read them from userinfo",
    async run(stage) {
      const application = await stage.start({ scope: ["openid", "email", "profile"] });
      const { browser } = await expectSignedIn(application);
      expect(application.provider.requestsTo("authorize")[0]?.query.get("scope")).toBe(
        "openid email profile",
      );
      expect(await userOf(browser)).toEqual({
        email: "ada@example.com",
        name: "Ada Lovelace",
        picture: "https://pictures.example.com/ada.png",
      });
      return "scope openid email profile; email, name and picture come from userinfo";
    },
  },
  {
    module: "oidcc-client-test-userinfo-invalid-sub",
    plans: [BASIC],
    demands: "ignore a userinfo response whose sub differs from the ID token's sub",
    async run(stage) {
      const application = await stage.start();
      application.provider.userinfoResponse = (claims) => ({
        ...claims,
        sub: "somebody-else",
        email: "eve@example.com",
        name: "Eve",
      });
      const { browser, callback } = await signIn(application);
      expect(callback.status).toBe(302);
      expect(application.provider.requestsTo("userinfo")).toHaveLength(1);
      expect(await userOf(browser)).toEqual({ email: null, name: null, picture: null });
      expect((await browser.get("/idpauth/")).text).not.toMatch(/eve/i);
      return "idpauth discarded the response: the user of the ID token is signed in, without email, name and picture";
    },
  },
];
