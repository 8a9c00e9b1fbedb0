import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  readSettings,
  SETTINGS,
  type SettingName,
  type SettingOptions,
} from "../../src/config/read-settings.js";
import { settingNamesOf } from "../../src/config/setting-names.js";
import { runChecks, type FrameworkFacts } from "../../src/config/startup-checks.js";
import { providerTargets } from "../../src/cli/live/provider-targets.js";

const ENV = {
  SECRET_KEY: "a secret key of at least 32 bytes",
  BASE_URL: "https://app.example",
  IDP_PROVIDERS: "a b",
  IDP_PROVIDER_A_ISSUER: "https://a.example",
  IDP_PROVIDER_A_CLIENT_ID: "a",
  IDP_PROVIDER_A_CLIENT_SECRET: "s",
  IDP_PROVIDER_B_ISSUER: "https://b.example",
  IDP_PROVIDER_B_CLIENT_ID: "b",
  IDP_PROVIDER_B_CLIENT_SECRET: "t",
  SCOPE: "openid offline_access",
};
const HOST: FrameworkFacts = {
  sessionMiddleware: "present",
  sessionKind: "host",
  storeGiven: false,
  frameworkName: "Express",
};
type Changes = Record<string, string | undefined>;

const read = (changes: Changes = {}, options: SettingOptions = {}) =>
  readSettings(options, { ...ENV, ...changes });
const found = (changes: Changes, options?: SettingOptions) =>
  read(changes, options).findings.map(({ code, message }) => [code, message]);
const codes = (changes: Changes, options?: SettingOptions) =>
  read(changes, options).findings.map(({ code }) => code);
const pem = () =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;

describe('with `session: "host"`, what needs a list of a user\'s sessions', () => {
  const e020 = (changes: Changes, options?: SettingOptions) =>
    runChecks(read(changes, options), HOST)
      .filter(({ code }) => code === "E020")
      .map(({ message }) => message);

  it.each<[string, Changes, SettingOptions, string]>([
    [
      "a provider's own variable",
      { IDP_PROVIDER_A_BACKCHANNEL_LOGOUT: "true" },
      {},
      "required for IDP_PROVIDER_A_BACKCHANNEL_LOGOUT (option providers.a.backchannelLogout).",
    ],
    [
      "a provider's own option",
      {},
      { providers: { a: {}, b: { frontchannelLogout: true } } },
      "required for IDP_PROVIDER_B_FRONTCHANNEL_LOGOUT (option providers.b.frontchannelLogout).",
    ],
    [
      "a variable that both inherit, which is named once",
      { IDP_BACKCHANNEL_LOGOUT: "true" },
      {},
      "required for IDP_BACKCHANNEL_LOGOUT (option backchannelLogout).",
    ],
    [
      "a setting of no provider",
      { IDP_SESSIONS_PAGE: "true" },
      {},
      "required for IDP_SESSIONS_PAGE (option sessionsPage).",
    ],
  ])("is E020: %s", (_name, changes, options, text) => {
    expect(e020(changes, options)).toEqual([expect.stringContaining(text)]);
  });

  it("is E020 beside other errors, too", () => {
    expect(e020({ IDP_PROVIDER_A_BACKCHANNEL_LOGOUT: "1", SECRET_KEY: "" })).toHaveLength(1);
  });

  it("is nothing if each provider turns it off", () => {
    const off = {
      IDP_PROVIDER_A_BACKCHANNEL_LOGOUT: "no",
      IDP_PROVIDER_B_BACKCHANNEL_LOGOUT: "no",
    };
    expect(e020({ IDP_BACKCHANNEL_LOGOUT: "yes", ...off })).toEqual([]);
  });
});

describe("a wrong key", () => {
  it.each([
    ["in the environment", { IDP_PROVIDERS: "a,Staff" }, {}],
    ["in code", { IDP_PROVIDERS: undefined }, { providers: { a: {}, Staff: {} } }],
    ["in code, as no object", {}, { providers: { a: {}, b: "x" } }],
  ])("%s hides no finding about the other providers", (_name, changes, options) => {
    const wrong = { ...changes, IDP_PROVIDER_A_CLIENT_ID: "", IDP_PROVIDER_A_SCOPE: "email" };
    const findings = codes(wrong, options as SettingOptions);
    expect(findings.filter((code) => code === "E006")).not.toEqual([]);
    expect(findings).toEqual(expect.arrayContaining(["E003", "E005"]));
  });

  it("brings no warning about the variables that are meant for it, and none about the default", () => {
    const changes = {
      IDP_PROVIDERS: "a B",
      IDP_DEFAULT_PROVIDER: "b",
      IDP_PROVIDER_A_STAFF_ISSUER: "https://x.example",
    };
    expect(codes(changes)).toEqual(["E006"]);
  });

  it("leaves idpauth check --live the other providers", () => {
    const targets = providerTargets({ ...ENV, IDP_PROVIDERS: "a,Staff" });
    expect(targets.map(({ key, settings }) => [key, settings.issuer])).toEqual([
      ["a", "https://a.example"],
    ]);
  });
});

describe("a finding about a provider names the variable that is set", () => {
  it.each<[string, Changes, SettingOptions, string]>([
    ["the inherited one", { SCOPE: "email" }, {}, "Provider a: SCOPE (option scope) doesn't"],
    [
      "its own",
      { IDP_PROVIDER_A_SCOPE: "email" },
      {},
      "Provider a: IDP_PROVIDER_A_SCOPE (option providers.a.scope) doesn't",
    ],
    [
      "the inherited option",
      { SCOPE: undefined },
      { scope: ["email"] },
      "Provider a: SCOPE (option scope) doesn't",
    ],
  ])("%s", (_name, changes, options, text) => {
    expect(found(changes, options)[0]).toEqual(["E005", expect.stringContaining(text)]);
  });

  it("in idpauth check --live, too", () => {
    const [a, b] = providerTargets({
      ...ENV,
      IDP_PROVIDER_A_SCOPE: "openid a",
      IDP_PROVIDER_B_SCOPE: " ",
    });
    expect([a?.settings.scope, b?.settings.scope]).toEqual([
      ["openid", "a"],
      ["openid", "offline_access"],
    ]);
    const named = [a, b].map((target) => {
      const { label, env } = target!.names;
      return [label("scope"), env("issuer"), env("secretKey")].join(", ");
    });
    expect(named).toEqual([
      "IDP_PROVIDER_A_SCOPE, IDP_PROVIDER_A_ISSUER, SECRET_KEY",
      "SCOPE, IDP_PROVIDER_B_ISSUER, SECRET_KEY",
    ]);
  });

  it("for each setting that a provider can have, and no other", () => {
    const { label, env: variable } = settingNamesOf("a", ["scope"]);
    for (const [name, { env, per }] of Object.entries(SETTINGS)) {
      const isOwn = name !== "scope" && per !== undefined;
      const named = isOwn ? `IDP_PROVIDER_A_${env.replace(/^IDP_/, "")}` : env;
      expect([variable(name as SettingName), label(name as SettingName)]).toEqual([
        named,
        `${named} (option ${isOwn ? `providers.a.${name}` : name})`,
      ]);
    }
  });
});

describe("a provider with a private key", () => {
  const keyOf = (key: string) => ({
    [`IDP_PROVIDER_${key}_PRIVATE_KEY`]: pem(),
    [`IDP_PROVIDER_${key}_CLIENT_SECRET`]: undefined,
  });

  it("doesn't inherit how a secret is sent, so E023 names only a setting of its own", () => {
    const common = { IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic", ...keyOf("A") };
    const { findings, providers } = read(common);
    expect(findings).toEqual([]);
    expect(providers.map(({ settings }) => settings.tokenEndpointAuthMethod)).toEqual([
      "client_secret_post",
      "client_secret_basic",
    ]);
    const own = { ...keyOf("A"), IDP_PROVIDER_A_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic" };
    expect(read(own).findings).toMatchObject([
      {
        code: "E023",
        remedy: expect.stringContaining("IDP_PROVIDER_A_TOKEN_ENDPOINT_AUTH_METHOD") as unknown,
      },
    ]);
  });

  it("[BCP-20] whose key another provider has, in any place of its list, is E030", () => {
    const shared = pem();
    const b = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const options = (a: unknown) =>
      ({
        providers: {
          a: { privateKey: a, clientSecret: null },
          b: { privateKey: [b, shared], clientSecret: null },
        },
      }) as unknown as SettingOptions;
    const env = { IDP_PROVIDER_A_CLIENT_SECRET: "", IDP_PROVIDER_B_CLIENT_SECRET: "" };
    expect(codes(env, options(shared))).toEqual(["E030"]);
    expect(found(env, options([pem(), shared]))).toEqual([
      ["E030", "The providers a and b have the same private key."],
    ]);
    expect(codes(env, options(pem()))).toEqual([]);
  });
});

describe("a variable of a provider that isn't listed", () => {
  const w014 = (changes: Changes) =>
    read(changes).findings.map(({ code, message }) => `${code} ${message}`);

  it.each(["IDP_PROVIDER_C_ISSUER", "IDP_PROVIDER_C_CLIENT_ID", "IDP_PROVIDER_STAFF_NAME"])(
    "%s is W014 without another provider's variable",
    (name) => {
      const [finding = "", ...others] = w014({ [name]: "x" });
      expect(others).toEqual([]);
      expect(finding).toMatch(/^W014 .*doesn't list; the keys there are a, b\.$/);
      expect(finding).not.toMatch(/IDP_PROVIDER_[AB]_/);
    },
  );

  it("is W014 if no provider is listed", () => {
    const single = {
      IDP_PROVIDERS: undefined,
      IDP_CLIENT_ID: "x.apps.googleusercontent.com",
      IDP_CLIENT_SECRET: "s",
    };
    expect(w014(single).filter((text) => !text.includes("IDP_PROVIDERS isn't set"))).toEqual([]);
    expect(w014(single)).toHaveLength(6);
  });

  it("with a misspelt name suggests no other provider's, and a listed one its own", () => {
    expect(w014({ IDP_PROVIDER_C_ISUER: "x" })).toEqual([]);
    // The key `a-eu`, not a spelling of `a`.
    expect(w014({ IDP_PROVIDER_A_EU_ISSUER: "x" })).toEqual([
      expect.not.stringContaining("Did you mean"),
    ]);
    expect(w014({ IDP_PROVIDER_B_ISUER: "x" })).toEqual([
      expect.stringContaining("Did you mean `IDP_PROVIDER_B_ISSUER`?"),
    ]);
    expect(w014({ IDP_PROVIDR_B_ISSUER: "x" })).toEqual([
      expect.stringContaining("Did you mean `IDP_PROVIDER_B_ISSUER`?"),
    ]);
  });
});
