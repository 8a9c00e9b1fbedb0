import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { probe, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGIN = "/idpauth/login/";

const login = (parameters: Readonly<Record<string, string>>) =>
  `${LOGIN}?${new URLSearchParams(parameters).toString()}`;

/** The parameters of the authorization request and of the token request. */
export const authorizationRequestRequirements: readonly AdapterRequirement[] = [
  {
    area: "authorization request",
    title:
      "the request carries state, nonce and PKCE; its redirect URI is the application's own callback, the same at the token request",
    async check(starter) {
      const app = await starter.start();
      const redirectUri = `${app.origin}/idpauth/login-callback`;
      app.provider.settings.redirectUris = [redirectUri];
      const browser = app.browser();
      // No parameter of the login's query reaches the authorization request.
      const nasty = `${app.origin}/?x=1&scope=admin&redirect_uri=https://evil.example/&state=x`;
      await browser.navigate(
        await app.approved(browser, login({ scheme: "PRESERVE_ORIGIN_QP", origin_url: nasty })),
      );
      assert.deepEqual(await probe(browser), SIGNED_IN);

      const [asked] = app.provider.requestsTo("authorize");
      const {
        state,
        nonce,
        code_challenge: challenge,
        ...fixed
      } = Object.fromEntries(asked?.query ?? []);
      assert.deepEqual(fixed, {
        response_type: "code",
        client_id: app.provider.clientId,
        redirect_uri: redirectUri,
        scope: "openid email profile offline_access",
        code_challenge_method: "S256",
        prompt: "consent",
      });
      for (const value of [state, nonce, challenge])
        assert.match(value ?? "", /^[A-Za-z0-9_-]{43}$/);
      assert.equal(new Set([state, nonce, challenge]).size, 3);
      const exchange = app.provider.requestsTo("token")[0]?.params;
      assert.deepEqual(
        [exchange?.get("grant_type"), exchange?.get("redirect_uri")],
        ["authorization_code", redirectUri],
      );
      assert.equal(
        createHash("sha256")
          .update(exchange?.get("code_verifier") ?? "")
          .digest("base64url"),
        challenge,
      );
    },
  },
];
