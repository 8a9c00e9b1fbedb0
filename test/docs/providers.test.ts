import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { advertisesOffline, checkRefresh } from "../../src/live/check-capabilities.js";
import { readSettings } from "../../src/config/read-settings.js";
import {
  ownLogoutAddress,
  profileOf,
  PROVIDER_PROFILES,
} from "../../src/config/provider-profiles.js";
import { issuerTemplate } from "../../src/config/tenant-issuers.js";

// The pages of providers as a user copies them: settings, addresses, and what the check prints.

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const NAMES = readdirSync(path.join(DOCS, "providers")).filter((name) => name !== "index.md");
const textOf = (name: string) => readFileSync(path.join(DOCS, "providers", name), "utf8");

const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();

/** The `.env` blocks of a page, each as an environment, in order. */
const environmentsOf = (text: string) =>
  [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = ""]) => parseEnv(block) as Record<string, string>,
  );

/**
 * The complete settings of a page, and each later block as an addition to them, with a usable key.
 */
const variantsOf = (name: string): Record<string, string>[] => {
  const [base = {}, ...others] = environmentsOf(textOf(name));
  const variants = name === "self-hosted.md" ? others : [{}, ...others];
  return variants.map((one) => ({
    ...base,
    ...one,
    SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
    // The page names a file that only its reader has.
    ...(base["IDP_PRIVATE_KEY"] !== undefined && { IDP_PRIVATE_KEY: KEY }),
  }));
};

describe.each(NAMES)("docs/providers/%s", (name) => {
  it("shows settings that are accepted; the only warnings are that SCOPE lacks `offline_access`, and an internal http address", () => {
    const variants = variantsOf(name);
    expect(variants.length).toBeGreaterThan(0);
    for (const env of variants) {
      const { findings, providers } = readSettings({}, env);
      const settings = providers[0]?.settings;
      const isRefreshed =
        profileOf(settings?.issuer ?? "").offline !== "offline_access" ||
        settings?.scope.includes("offline_access") === true;
      const isInternal = settings?.discoveryUrl?.startsWith("http:") === true;
      const expected = [...(isInternal ? ["W011"] : []), ...(isRefreshed ? [] : ["W004"])];
      expect(
        findings.map(({ code }) => code),
        JSON.stringify(env),
      ).toEqual(expected);
    }
  });

  it("names the redirect URI as idpauth sends it, without a slash at the end", () => {
    const uris = textOf(name).match(/https?:\/\/[\w.:]+\/idpauth\/[\w/-]*/g) ?? [];
    expect(uris).toContain("https://app.example.com/idpauth/login-callback");
    const known = [
      "login-callback",
      "logout-callback",
      "backchannel-logout",
      "frontchannel-logout",
    ];
    expect(
      uris.map((uri) => uri.split("/idpauth/")[1]).filter((last = "") => !known.includes(last)),
    ).toEqual([]);
  });
});

it.each(NAMES.filter((name) => name !== "generic.md"))(
  "docs/providers/%s names the month in which its facts were checked, and links to the provider's documentation",
  (name) => {
    const text = textOf(name);
    expect(text).toMatch(/were\schecked\sin\s[A-Z]\w+\s20\d\d\./);
    expect(text.match(/\]\(https:\/\//g)?.length ?? 0).toBeGreaterThan(3);
  },
);

describe("the issuers and scopes of the pages", () => {
  const OFFLINE = ["openid", "profile", "email", "offline_access"];
  it.each([
    ["google.md", 0, /^https:\/\/accounts\.google\.com$/, ["openid", "email", "profile"]],
    ["entra-id.md", 0, /^https:\/\/login\.microsoftonline\.com\/[\da-f-]{36}\/v2\.0$/, OFFLINE],
    ["keycloak.md", 0, /\/realms\/your-realm$/, ["openid", "profile", "email"]],
    ["auth0.md", 0, /\.auth0\.com\/$/, OFFLINE],
    ["okta.md", 0, /\.okta\.com$/, ["openid", "profile", "email", "groups", "offline_access"]],
    [
      "cognito.md",
      0,
      /^https:\/\/cognito-idp\.([\w-]+)\.amazonaws\.com\/\1_\w+$/,
      ["openid", "profile", "email"],
    ],
    ["apple.md", 0, /^https:\/\/appleid\.apple\.com$/, ["openid", "email", "name"]],
    ["self-hosted.md", 0, /\/application\/o\/your-app\/$/, OFFLINE],
    ["self-hosted.md", 1, /^https:\/\/login\.example\.com$/, OFFLINE],
    ["self-hosted.md", 2, /^https:\/\/gitlab\.com$/, ["openid", "profile", "email"]],
    ["self-hosted.md", 3, /^https:\/\/hydra\.example\.com$/, OFFLINE],
    ["self-hosted.md", 4, /^https:\/\/django\.example\.com\/o$/, ["openid", "profile", "email"]],
    [
      "self-hosted.md",
      5,
      /^https:\/\/django\.example\.com\/openid$/,
      ["openid", "profile", "email"],
    ],
    ["self-hosted.md", 6, /^https:\/\/spring\.example\.com$/, ["openid", "profile", "email"]],
    [
      "self-hosted.md",
      7,
      /^https:\/\/dex\.example\.com\/dex$/,
      ["openid", "profile", "email", "groups", "offline_access"],
    ],
    ["self-hosted.md", 8, /^https:\/\/auth\.example\.com\/$/, ["openid", "profile", "email"]],
    [
      "self-hosted.md",
      9,
      /^https:\/\/glewlwyd\.example\.com\/api\/oidc$/,
      ["openid", "profile", "email"],
    ],
    ["generic.md", 0, /^https:\/\/login\.example\.com$/, OFFLINE],
  ])("%s, block %i", (name, index, issuer, scope) => {
    const settings = readSettings({}, variantsOf(name)[index]).providers[0]?.settings;
    expect(settings?.issuer).toMatch(issuer);
    expect(settings?.scope).toEqual(scope);
  });

  it("are those by which idpauth recognizes Google, Entra ID, Auth0, Okta, Amazon Cognito and Apple", () => {
    const issuerOf = (name: string) => variantsOf(name)[0]?.["IDP_ISSUER"] ?? "";
    const { google, entra, auth0, okta, cognito, apple } = PROVIDER_PROFILES;
    expect(profileOf("https://accounts.google.com")).toBe(google);
    expect(
      ["entra-id.md", "auth0.md", "okta.md", "cognito.md", "apple.md"].map((name) =>
        profileOf(issuerOf(name)),
      ),
    ).toEqual([entra, auth0, okta, cognito, apple]);
    expect(
      variantsOf("entra-id.md").map(
        ({ IDP_ISSUER = "" }) => issuerTemplate(IDP_ISSUER) !== undefined,
      ),
    ).toContain(true);
    const presets = ["auth0.md", "cognito.md"].map((name) =>
      ownLogoutAddress({ issuer: issuerOf(name), logoutAtProvider: true }),
    );
    expect(presets).toEqual([auth0.logout, cognito.logout]);
  });

  it("every page is in the comparison of providers", () => {
    const text = readFileSync(path.join(DOCS, "providers/index.md"), "utf8");
    for (const name of NAMES) expect(text).toContain(`](${name}`);
  });
});

describe("what the check prints about refresh tokens is on the page, of", () => {
  /** The scopes that each discovery document lists. */
  const SCOPES: readonly (readonly [string, number, string, readonly string[] | undefined])[] = [
    ["cognito.md", 0, "What the check prints", ["openid", "email", "phone", "profile"]],
    ["self-hosted.md", 2, "GitLab", ["api", "read_user", "openid", "profile", "email"]],
    ["self-hosted.md", 4, "django-oauth-toolkit", ["openid", "profile", "email"]],
    ["self-hosted.md", 5, "django-oidc-provider", undefined],
    ["self-hosted.md", 6, "Spring Authorization Server", ["openid"]],
    ["self-hosted.md", 7, "Dex", ["openid", "email", "groups", "profile", "offline_access"]],
  ];

  it.each(SCOPES)("%s, block %i (%s)", (name, index, title, scopes) => {
    const { findings: ofSettings, providers } = readSettings({}, variantsOf(name)[index]);
    const document = { scopes_supported: scopes };
    const { findings } = checkRefresh(document, providers[0]!.settings);
    const codes = [
      // Where the scope isn't advertised, W103 replaces it.
      ...(advertisesOffline(document) ? ofSettings : []),
      ...findings,
    ].map(({ code }) => code);
    const section = textOf(name).split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
    const named = ["W004", "W103"].filter((code) => section.includes(`[${code}]`));
    expect(named).toEqual(codes);
  });
});
