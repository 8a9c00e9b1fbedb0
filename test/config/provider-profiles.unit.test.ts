import { describe, expect, expectTypeOf, it } from "vitest";
import {
  documentHosts,
  ownLogoutAddress,
  profileOf,
  PROVIDER_PROFILES,
  type KnownProvider,
  type ProviderProfile,
} from "../../src/config/provider-profiles.js";
import { askedAtLogin } from "../../src/config/api-scopes.js";
import { checkAudience } from "../../src/provider/api-audience.js";
import {
  accountPrompt,
  contextsOf,
  loginScopes,
  offlineParameters,
  refreshDoubt,
} from "../../src/provider/authorization-request.js";
import { assertionAudience } from "../../src/provider/client-assertion.js";
import { assertionAlgorithm } from "../../src/provider/client-signatures.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import type { SpentRefresh } from "../../src/record/credentials.js";

const TENANT = "9f6b1f5e-0c1d-4a2b-8c3d-5e6f7a8b9c0d";
const SCOPES = ["openid", "offline_access"];
const UNKNOWN = "https://login.example.com";

/** What every rule makes of an issuer: all of them that know a vendor. */
function decisionsFor(issuer: string) {
  const settings = {
    issuer,
    loginPrompt: null,
    clientAssertionAudience: null,
    sessionAutoRefresh: true,
    scope: SCOPES,
    authorizationParams: {},
    logoutAtProvider: true,
  } as unknown as ProviderSettings;
  const target = { api: "a", audience: ["x"], scope: [], consentLater: false };
  const opaque = { accessToken: "opaque" } as SpentRefresh;
  return {
    documentHosts: documentHosts(issuer).map((host) => host === new URL(issuer).hostname),
    offline: offlineParameters(settings, SCOPES),
    doubt: refreshDoubt({ ...settings, loginPrompt: "login" }, {}),
    account: accountPrompt(settings, undefined),
    contexts: Object.keys(contextsOf(settings, { acr: ["C1"] })),
    maxAge: profileOf(issuer).stepUp.maxAge,
    audience: assertionAudience(settings, "/at", { token_endpoint: "/token" }) === issuer,
    algorithm: assertionAlgorithm(["PS256", "RS256"], undefined, issuer),
    scopes: loginScopes({ ...settings, scope: ["openid", "profile"], scopeIsDefault: true }, {}),
    postsIdentity: profileOf(issuer).postsIdentity,
    cancelled: profileOf(issuer).cancelled,
    asked: askedAtLogin([{ ...target, resource: "r" }], issuer),
    refusesOpaque: throws(() => {
      checkAudience(opaque, target, issuer);
    }),
    logout: ownLogoutAddress(settings),
    logoutHints: profileOf(issuer).logoutHints,
    frontchannelIss: profileOf(issuer).frontchannelIss,
    sharedEndpoints: profileOf(issuer).sharedEndpoints,
  };
}

function throws(act: () => void): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}

/** Issuers of each provider, and what only looks like one. */
const ISSUERS: Record<
  Exclude<KnownProvider, "keycloak" | "hydra">,
  { readonly own: readonly string[]; readonly foreign: readonly string[] }
> = {
  apple: {
    own: ["https://appleid.apple.com"],
    foreign: ["https://appleid.apple.com.evil.example", "https://apple.com"],
  },
  google: {
    own: ["https://accounts.google.com", "https://accounts.google.com/"],
    foreign: [
      "https://accounts.google.com.evil.example",
      "https://login.example/accounts.google.com",
      "https://google.com",
    ],
  },
  entra: {
    own: [
      "login.microsoftonline.com",
      "login.microsoftonline.us",
      "login.partner.microsoftonline.cn",
      "sts.windows.net",
    ].map((host) => `https://${host}/${TENANT}/v2.0`),
    foreign: [
      "https://login.microsoftonline.com.evil.example/v2.0",
      "https://evil-login.microsoftonline.com/v2.0",
      "https://windows.net",
      "https://example.com/login.microsoftonline.com",
    ],
  },
  auth0: {
    own: ["https://example.eu.auth0.com/", "https://example.auth0.com/"],
    foreign: ["https://auth0.com/", "https://evilauth0.com/"],
  },
  okta: {
    own: [
      "https://example.okta.com",
      "https://example.oktapreview.com/oauth2/default",
      "https://example.okta-emea.com",
    ],
    foreign: ["https://okta.com", "https://evilokta.com", "https://example.okta.com.evil.example"],
  },
  cognito: {
    own: ["https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc"],
    foreign: ["https://cognito-idp.amazonaws.com", "https://x.cognito-idp.eu-1.amazonaws.com"],
  },
};

describe.each(Object.entries(ISSUERS))("%s", (name, { own, foreign }) => {
  const [first = ""] = own;

  it.each(own)("%s is recognized, and every rule decides the same", (issuer) => {
    expect(profileOf(issuer)).toBe(PROVIDER_PROFILES[name as KnownProvider]);
    expect(decisionsFor(issuer)).toEqual(decisionsFor(first));
    expect(decisionsFor(issuer)).not.toEqual(decisionsFor(UNKNOWN));
  });

  it.each(foreign)("%s isn't, for any rule", (issuer) => {
    expect(decisionsFor(issuer)).toEqual(decisionsFor(UNKNOWN));
    expect(profileOf(issuer)).toBe(profileOf(UNKNOWN));
  });
});

describe("Keycloak, Zitadel and Hydra", () => {
  const at = (authorization_endpoint: string) => profileOf(UNKNOWN, { authorization_endpoint });

  it("are recognized by the path of their authorization endpoint", () => {
    const { keycloak } = PROVIDER_PROFILES;
    expect(at("https://sso.example/realms/a/protocol/openid-connect/auth")).toBe(keycloak);
    expect(at("https://sso.example/realms/a/b/protocol/openid-connect/auth")).toBe(
      profileOf(UNKNOWN),
    );
    expect(at("no address")).toBe(profileOf(UNKNOWN));
    expect(at("https://sso.example/oauth2/auth")).toBe(PROVIDER_PROFILES.hydra);
  });

  it("Keycloak differs only in what is decided with its discovery document", () => {
    const { matches: _, ...keycloak } = PROVIDER_PROFILES.keycloak;
    const { matches: _others, ...others } = profileOf(UNKNOWN);
    expect(keycloak).toEqual({ ...others, offline: "nothing" });
    expect(others.offline).toBe("offline_access");
  });
});

describe("a new row", () => {
  it("that says only how its provider is recognized gets what every unknown provider gets", () => {
    for (const profile of Object.values(PROVIDER_PROFILES))
      expect(Object.keys(profile).toSorted()).toEqual(Object.keys(profileOf(UNKNOWN)).toSorted());
    // A part of a row can't be left half filled, since nothing in it is optional.
    expectTypeOf<ProviderProfile>().toEqualTypeOf<Required<ProviderProfile>>();
    expectTypeOf<ProviderProfile["stepUp"]>().toEqualTypeOf<Required<ProviderProfile["stepUp"]>>();
    expectTypeOf<ProviderProfile["assertion"]>().toEqualTypeOf<
      Required<ProviderProfile["assertion"]>
    >();
    expectTypeOf<ProviderProfile["apiTokens"]>().toEqualTypeOf<
      Required<ProviderProfile["apiTokens"]>
    >();
  });

  it("trusts an unknown provider with nothing: a step-up needs its claim, a logout its issuer", () => {
    expect(profileOf(UNKNOWN)).toMatchObject({
      documentHosts: undefined,
      offline: "offline_access",
      consent: { for: "offline_access", prompt: "consent" },
      chooseAccount: "if-advertised",
      stepUp: { maxAge: true, contextClaim: undefined },
      assertion: { audience: "issuer", algorithm: "RS256" },
      logout: undefined,
      logoutHints: { maxUrlLength: 4096, claim: undefined },
      frontchannelIss: true,
      sharedEndpoints: [],
    });
  });

  it.each(["", "login.microsoftonline.com", "not a URL"])(
    "an issuer that isn't a URL, such as %j, is an unknown provider",
    (issuer) => {
      expect(profileOf(issuer)).toBe(profileOf(UNKNOWN));
      expect(documentHosts(issuer)).toEqual([]);
    },
  );
});

describe("the hostnames of documents", () => {
  it.each([
    ["https://accounts.google.com", ["docs.google.com"]],
    ["https://accounts.google.com/", ["docs.google.com"]],
    ["https://login.example/tenant", ["login.example"]],
    ["http://127.0.0.1:4000", ["127.0.0.1"]],
    ["https://accounts.google.com.evil.example", ["accounts.google.com.evil.example"]],
  ])("of issuer %s", (issuer, hosts) => {
    expect(documentHosts(issuer)).toEqual(hosts);
  });
});

describe("a logout at the provider", () => {
  it("goes to the address of the provider that the setting names, at every issuer", () => {
    const named = (logoutAtProvider: boolean | "auth0") =>
      ownLogoutAddress({ issuer: UNKNOWN, logoutAtProvider });
    expect(named("auth0")).toBe(PROVIDER_PROFILES.auth0.logout);
    expect(named(true)).toBeUndefined();
  });
});
