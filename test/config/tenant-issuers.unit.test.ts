import { describe, expect, it } from "vitest";
import { readSettings, type SettingOptions } from "../../src/config/read-settings.js";
import { isIssuerOf } from "../../src/config/tenant-issuers.js";

const TENANT = "11111111-2222-4333-8444-555555555555";
const OTHER = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const MICROSOFT = "https://login.microsoftonline.com";
const REQUIRED = {
  SECRET_KEY: "a secret key of at least 32 bytes",
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  IDP_CLIENT_SECRET: "secret",
  BASE_URL: "https://app.example",
};

const read = (env: Record<string, string>, options: SettingOptions = {}) =>
  readSettings(options, { ...REQUIRED, ...env });
const errors = (...input: Parameters<typeof read>) =>
  read(...input)
    .findings.filter(({ severity }) => severity === "error")
    .map(({ code }) => code);

describe("the allowed tenants", () => {
  const issuer = `${MICROSOFT}/organizations/v2.0`;

  it.each<[string, readonly string[] | "any"]>([
    ["any", "any"],
    [TENANT, [TENANT]],
    [`${TENANT}, ${OTHER.toUpperCase()}`, [TENANT, OTHER]],
    [`${TENANT}\n${OTHER}`, [TENANT, OTHER]],
  ])("in the environment: %j", (text, expected) => {
    expect(
      read({ IDP_ISSUER: issuer, IDP_ALLOWED_TENANTS: text }).providers[0]?.settings.allowedTenants,
    ).toEqual(expected);
  });

  it.each<[SettingOptions["allowedTenants"], readonly string[] | "any"]>([
    ["any", "any"],
    [[OTHER.toUpperCase()], [OTHER]],
  ])("in code: %j", (allowedTenants, expected) => {
    expect(
      read({ IDP_ISSUER: issuer }, { allowedTenants }).providers[0]?.settings.allowedTenants,
    ).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ["an empty list", []],
    ["a list with any", ["any"]],
    ["text", TENANT],
    ["a list with a hole", Object.assign([TENANT], { length: 2 })],
    ["a list with a number", [7]],
    ["true", true],
  ])("in code may not be %s", (_name, value) => {
    expect(errors({ IDP_ISSUER: issuer }, { allowedTenants: value as never })).toEqual(["E006"]);
  });

  it("in code override the environment, and null unsets them", () => {
    const env = { IDP_ISSUER: issuer, IDP_ALLOWED_TENANTS: TENANT };
    expect(read(env, { allowedTenants: [OTHER] }).providers[0]?.settings.allowedTenants).toEqual([
      OTHER,
    ]);
    expect(errors(env, { allowedTenants: null })).toEqual(["E018"]);
  });
});

describe("the issuer and the allowed tenants", () => {
  it.each(["organizations", "common"])(
    "%s without allowed tenants is E018, which says what to set",
    (path) => {
      const { settings, findings } = read({ IDP_ISSUER: `${MICROSOFT}/${path}/v2.0` });
      const [finding] = findings;
      expect([settings, finding?.code]).toEqual([undefined, "E018"]);
      expect(finding?.message).toContain("IDP_ALLOWED_TENANTS (option allowedTenants)");
      expect(finding?.remedy).toMatch(
        /Set IDP_ALLOWED_TENANTS to the tenant identifiers .* or to `any`/,
      );
    },
  );

  it.each([
    ["one tenant", { IDP_ISSUER: `${MICROSOFT}/${TENANT}/v2.0` }],
    ["another provider", { IDP_ISSUER: "https://login.example" }],
    ["the default issuer", {}],
    ["a slash too many", { IDP_ISSUER: `${MICROSOFT}/common/v2.0/` }],
    ["no version", { IDP_ISSUER: `${MICROSOFT}/common` }],
  ])("%s with allowed tenants is E019, which says what to set", (_name, env) => {
    const { settings, findings } = read({ ...env, IDP_ALLOWED_TENANTS: "any" });
    const [finding] = findings;
    expect([settings, finding?.code]).toEqual([undefined, "E019"]);
    expect(finding?.remedy).toContain("https://login.microsoftonline.com/organizations/v2.0");
  });

  it("a refused value of either is reported once", () => {
    expect(
      errors({ IDP_ISSUER: `${MICROSOFT}/common/v2.0`, IDP_ALLOWED_TENANTS: "contoso" }),
    ).toEqual(["E006"]);
    expect(errors({ IDP_ISSUER: "ftp://x", IDP_ALLOWED_TENANTS: TENANT })).toEqual(["E006"]);
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
