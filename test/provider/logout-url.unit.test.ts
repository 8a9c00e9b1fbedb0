// The address of a logout at the provider, without servers.
import { describe, expect, it } from "vitest";
import { logoutUrl } from "../../src/provider/logout-url.js";
import type { ProviderMetadata } from "../../src/provider/provider-metadata.js";
import type { LogoutHints } from "../../src/ports/provider.js";

const ENTRA = "https://login.microsoftonline.com/9f6b1f5e-0c1d-4a2b-8c3d-5e6f7a8b9c0d/v2.0";
const OTHER = "https://login.example.com";
const LOGIN_HINT = "O.CiQ4ZDdk-example.Q1RjS";

function parametersAt(issuer: string, hints?: LogoutHints) {
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    end_session_endpoint: `${issuer}/logout`,
  } as ProviderMetadata;
  const settings = { issuer, clientId: "client", logoutAtProvider: true } as const;
  const returnTo = "https://app.example.com/idpauth/logout-callback";
  const url = logoutUrl(settings, metadata, { returnTo, state: "s".repeat(22), hints }) ?? "";
  const parameters = Object.fromEntries(new URL(url).searchParams);
  expect(parameters).toMatchObject({ client_id: "client", post_logout_redirect_uri: returnTo });
  return { length: url.length, parameters };
}

/** An ID token of Entra ID with 30 groups has about 2,200 characters. */
const hintsOf = (length: number, claims: LogoutHints["claims"] = {}): LogoutHints => ({
  idToken: "t".repeat(length),
  claims,
});

describe("the address of a logout at Entra ID", () => {
  it("has both hints if it is short enough", () => {
    const { parameters } = parametersAt(ENTRA, hintsOf(1400, { login_hint: LOGIN_HINT }));
    expect(parameters).toMatchObject({
      id_token_hint: "t".repeat(1400),
      logout_hint: LOGIN_HINT,
    });
  });

  it("leaves out the ID token of a user in 30 groups, and keeps the hint", () => {
    const { parameters, length } = parametersAt(ENTRA, hintsOf(2200, { login_hint: LOGIN_HINT }));
    expect([parameters["id_token_hint"], parameters["logout_hint"]]).toEqual([
      undefined,
      LOGIN_HINT,
    ]);
    expect(length).toBeLessThan(2000);
  });

  it.each([undefined, "", 7, ["a"], "h".repeat(2000)])(
    "with a claim login_hint of %j has no hint",
    (login_hint) => {
      const { parameters } = parametersAt(ENTRA, hintsOf(2200, { login_hint }));
      expect(Object.keys(parameters).toSorted()).toEqual([
        "client_id",
        "post_logout_redirect_uri",
        "state",
      ]);
    },
  );

  it("is never longer than 2,000 characters, and as long with an ID token that fits", () => {
    const lengths = Array.from({ length: 2000 }, (_, index) => {
      const { length, parameters } = parametersAt(ENTRA, hintsOf(index));
      return "id_token_hint" in parameters ? length : 0;
    });
    expect(Math.max(...lengths)).toBe(2000);
  });

  it("has no hint if another site may have asked", () => {
    expect(parametersAt(ENTRA).parameters).not.toHaveProperty("logout_hint");
  });
});

describe("the address of a logout at any other provider", () => {
  it("has an ID token up to 4,096 characters of address, and no logout_hint", () => {
    const { parameters } = parametersAt(OTHER, hintsOf(2200, { login_hint: LOGIN_HINT }));
    expect(parameters).toMatchObject({ id_token_hint: "t".repeat(2200) });
    expect(parameters).not.toHaveProperty("logout_hint");
    expect(parametersAt(OTHER, hintsOf(4096)).parameters).not.toHaveProperty("id_token_hint");
  });
});
