import { describe, expect, it } from "vitest";
import {
  accountPrompt,
  furtherParameters,
  loginScopes,
  offlineParameters,
  refreshDoubt,
} from "../../src/provider/authorization-request.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";

const DEFAULT_SCOPE = ["openid", "email", "profile"];
const OFFLINE = [...DEFAULT_SCOPE, "offline_access"];

function settings(changes: Partial<ProviderSettings>): ProviderSettings {
  return {
    issuer: "https://idp.example",
    scope: DEFAULT_SCOPE,
    scopeIsDefault: true,
    loginPrompt: null,
    sessionAutoRefresh: true,
    ...changes,
  } as ProviderSettings;
}
const KEYCLOAK = "https://sso.example/auth/realms/example/protocol/openid-connect/auth";
const GOOGLE = { issuer: "https://accounts.google.com" };

describe("scopes of a login", () => {
  it.each([
    ["the default SCOPE where the provider knows offline_access", settings({}), OFFLINE, OFFLINE],
    ["the default SCOPE where it does not", settings({}), DEFAULT_SCOPE, DEFAULT_SCOPE],
    ["the default SCOPE where the provider does not say", settings({}), undefined, DEFAULT_SCOPE],
    ["the default SCOPE at Google", settings(GOOGLE), OFFLINE, DEFAULT_SCOPE],
    [
      "an explicit SCOPE is sent exactly",
      settings({ scope: ["openid"], scopeIsDefault: false }),
      OFFLINE,
      ["openid"],
    ],
    ["the default SCOPE at Keycloak", settings({}), OFFLINE, DEFAULT_SCOPE, KEYCLOAK],
    [
      "an explicit offline_access at Keycloak",
      settings({ scope: OFFLINE, scopeIsDefault: false }),
      OFFLINE,
      OFFLINE,
      KEYCLOAK,
    ],
  ])("%s", (_name, given, supported, expected, endpoint?: string) => {
    expect(
      loginScopes(given, { scopes_supported: supported, authorization_endpoint: endpoint }),
    ).toEqual(expected);
  });
});

describe("parameters that make the provider give a refresh token", () => {
  it.each<[string, ProviderSettings, readonly string[], object]>([
    [
      "Google",
      settings(GOOGLE),
      DEFAULT_SCOPE,
      { access_type: "offline", prompt: "select_account consent" },
    ],
    [
      "Google with a prompt configured",
      settings({ ...GOOGLE, loginPrompt: "none" }),
      DEFAULT_SCOPE,
      { access_type: "offline", prompt: "none" },
    ],
    ["another provider with offline_access", settings({}), OFFLINE, { prompt: "consent" }],
    [
      "another provider with offline_access and a prompt configured",
      settings({ loginPrompt: "login" }),
      OFFLINE,
      { prompt: "login" },
    ],
    ["another provider without offline_access", settings({}), DEFAULT_SCOPE, {}],
    ["another provider with `omit`", settings({ loginPrompt: "omit" }), OFFLINE, {}],
    [
      "Google with `omit`",
      settings({ ...GOOGLE, loginPrompt: "omit" }),
      DEFAULT_SCOPE,
      { access_type: "offline" },
    ],
    ...[
      "https://login.microsoftonline.com/t/v2.0",
      "https://example.eu.auth0.com/",
      "https://example.okta.com",
    ].map((issuer): [string, ProviderSettings, readonly string[], object] => [
      issuer,
      settings({ issuer }),
      OFFLINE,
      {},
    ]),
    [
      "Auth0 with a prompt configured",
      settings({ issuer: "https://example.eu.auth0.com/", loginPrompt: "consent" }),
      OFFLINE,
      { prompt: "consent" },
    ],
  ])("%s", (_name, given, scopes, expected) => {
    expect(offlineParameters(given, scopes)).toEqual(expected);
  });
});

describe("further parameters of a login", () => {
  it.each([
    ["Google's defaults", {}, {}, { access_type: "offline", prompt: "select_account consent" }],
    [
      "an explicit access_type and prompt replace Google's defaults",
      { access_type: "online", prompt: "login" },
      {},
      { access_type: "online", prompt: "login" },
    ],
    [
      "hd leaves the defaults",
      { hd: "a" },
      {},
      { access_type: "offline", prompt: "select_account consent", hd: "a" },
    ],
    [
      "those of the login",
      { hd: "a" },
      { hd: "b", prompt: "none" },
      { access_type: "offline", prompt: "none", hd: "a" },
    ],
  ])("%s", (_name, authorizationParams, ofLogin, expected) => {
    expect(
      furtherParameters(settings({ ...GOOGLE, authorizationParams }), DEFAULT_SCOPE, ofLogin),
    ).toEqual(expected);
  });
});

it.each<
  [
    string,
    Partial<ProviderSettings>,
    Parameters<typeof refreshDoubt>[1],
    ReturnType<typeof refreshDoubt>,
  ]
>([
  [
    "announced offline_access, which the default scopes get",
    {},
    { scopes_supported: OFFLINE },
    undefined,
  ],
  [
    "default scopes, and no offline_access announced",
    {},
    { scopes_supported: DEFAULT_SCOPE },
    "scope",
  ],
  ["default scopes, and nothing announced", {}, {}, "scope"],
  [
    "an explicit SCOPE without offline_access",
    { scopeIsDefault: false },
    { scopes_supported: OFFLINE },
    "scope",
  ],
  [
    "an explicit offline_access, and nothing announced",
    { scopeIsDefault: false, scope: OFFLINE },
    {},
    undefined,
  ],
  [
    "an explicit offline_access that is not announced",
    { scopeIsDefault: false, scope: OFFLINE },
    { scopes_supported: DEFAULT_SCOPE },
    "scope",
  ],
  [
    "no grant for refreshes",
    {},
    { scopes_supported: OFFLINE, grant_types_supported: ["authorization_code"] },
    "grant",
  ],
  ["a prompt without consent", { loginPrompt: "login" }, { scopes_supported: OFFLINE }, "prompt"],
  [
    "Keycloak with default scopes",
    {},
    { scopes_supported: OFFLINE, authorization_endpoint: KEYCLOAK },
    undefined,
  ],
  [
    "Auth0 without a prompt",
    { issuer: "https://example.eu.auth0.com/" },
    { scopes_supported: OFFLINE },
    undefined,
  ],
  ["`omit` at another provider", { loginPrompt: "omit" }, { scopes_supported: OFFLINE }, "prompt"],
  [
    "refresh switched off",
    { sessionAutoRefresh: false },
    { scopes_supported: DEFAULT_SCOPE },
    undefined,
  ],
  ["Google", GOOGLE, { scopes_supported: DEFAULT_SCOPE }, undefined],
  [
    "Google and a prompt without consent",
    { ...GOOGLE, loginPrompt: "login" },
    { scopes_supported: DEFAULT_SCOPE },
    "prompt",
  ],
])("whether a login might bring no refresh token: %s", (_name, changes, document, expected) => {
  expect(refreshDoubt(settings({ authorizationParams: {}, ...changes }), document)).toBe(expected);
});

describe("the prompt of a login with another account", () => {
  it.each([
    ["Google", "https://accounts.google.com", undefined, "select_account"],
    ["Entra ID", "https://login.microsoftonline.com/tenant/v2.0", undefined, "select_account"],
    ["Auth0", "https://tenant.eu.auth0.com/", undefined, "select_account"],
    [
      "a provider that announces it",
      "https://idp.example",
      ["login", "select_account"],
      "select_account",
    ],
    ["a provider that does not", "https://idp.example", ["login"], "login"],
    ["a provider that announces nothing", "https://idp.example", undefined, "login"],
    ["a host that only ends alike", "https://notauth0.com", undefined, "login"],
  ])("%s", (_name, issuer, supported, expected) => {
    expect(accountPrompt(settings({ issuer }), supported)).toBe(expected);
  });
});
