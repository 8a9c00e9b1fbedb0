import { describe, expect, it } from "vitest";
import {
  isAuth0Issuer,
  isEntraIssuer,
  isIssuerOf,
  logoutPresetOf,
} from "../../src/config/issuers.js";
import {
  accountPrompt,
  contextsOf,
  offlineParameters,
} from "../../src/provider/authorization-request.js";
import type { ProviderSettings } from "../../src/provider/provider-settings.js";

const TENANT = "9f6b1f5e-0c1d-4a2b-8c3d-5e6f7a8b9c0d";
const at = (issuer: string) => ({ issuer, loginPrompt: null }) as unknown as ProviderSettings;
const SCOPES = ["openid", "offline_access"];

describe("Entra ID, at each of its hostnames", () => {
  it.each([
    "login.microsoftonline.com",
    "login.microsoftonline.us",
    "login.partner.microsoftonline.cn",
    "sts.windows.net",
  ])("%s is one provider for every rule", (host) => {
    const issuer = `https://${host}/${TENANT}/v2.0`;
    expect(isEntraIssuer(issuer)).toBe(true);
    expect(offlineParameters(at(issuer), SCOPES)).toEqual({});
    expect(accountPrompt(at(issuer), undefined)).toBe("select_account");
    expect(contextsOf({ issuer }, { acr: ["C1"] })).toHaveProperty("acrs");
  });

  it.each([
    "https://login.microsoftonline.com.evil.example/v2.0",
    "https://evil-login.microsoftonline.com/v2.0",
    "https://windows.net",
    "https://example.com/login.microsoftonline.com",
    "login.microsoftonline.com",
  ])("%s isn't", (issuer) => {
    expect(isEntraIssuer(issuer)).toBe(false);
    expect(accountPrompt(at(issuer), undefined)).toBe("login");
    expect(contextsOf({ issuer }, { acr: ["C1"] })).toEqual({});
  });
});

describe("Auth0", () => {
  it.each([
    ["https://example.eu.auth0.com/", true],
    ["https://auth0.com/", false],
    ["https://evilauth0.com/", false],
  ])("%s: %s, for every rule", (issuer, expected) => {
    expect([
      isAuth0Issuer(issuer),
      logoutPresetOf({ issuer, logoutAtProvider: true }) === "auth0",
      offlineParameters(at(issuer), SCOPES)["prompt"] === undefined,
      accountPrompt(at(issuer), undefined) === "select_account",
    ]).toEqual([expected, expected, expected, expected]);
  });
});

describe("the `iss` of a login that another site starts", () => {
  const MANY = "https://login.microsoftonline.com/organizations/v2.0";
  it.each([
    ["https://a.example", "https://a.example", true],
    ["https://a.example", "https://a.example/", false],
    ["https://a.example", undefined, false],
    [MANY, MANY, true],
    [MANY, `https://login.microsoftonline.com/${TENANT}/v2.0`, true],
    [MANY, `https://login.microsoftonline.us/${TENANT}/v2.0`, false],
    [MANY, "https://login.microsoftonline.com/common/v2.0", false],
    [`https://login.microsoftonline.com/${TENANT}/v2.0`, MANY, false],
  ])("%s, %s: %s", (issuer, iss, expected) => {
    expect(isIssuerOf(issuer, iss)).toBe(expected);
  });
});
