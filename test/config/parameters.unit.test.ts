import { describe, expect, it } from "vitest";
import { LOGIN_PARAMETER_NAMES, STEP_UP_PARAMETERS } from "../../src/config/login-parameters.js";
import { RESERVED_PARAMETERS } from "../../src/config/reserved-parameters.js";
import { readSettings, type SettingOptions } from "../../src/config/read-settings.js";

const COMPLETE = {
  SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  IDP_CLIENT_SECRET: "client-secret",
  SCOPE: "openid email profile",
  BASE_URL: "https://app.example",
};

const fromText = (text: string) =>
  readSettings({}, { ...COMPLETE, IDP_AUTHORIZATION_PARAMS: text });
/** Options as JavaScript may give them, whatever the types say. */
const fromCode = (authorizationParams: unknown) =>
  readSettings({ authorizationParams } as SettingOptions, COMPLETE);
const names = (loginParams: unknown) => readSettings({ loginParams } as SettingOptions, COMPLETE);

function parameters(result: ReturnType<typeof readSettings>) {
  expect(result.findings).toEqual([]);
  return result.providers[0]?.settings.authorizationParams;
}

/** The one finding, which must not repeat a value. */
function refused(result: ReturnType<typeof readSettings>, code = "E006") {
  expect(result.settings).toBeUndefined();
  expect(result.findings).toMatchObject([{ code, severity: "error" }]);
  expect(JSON.stringify(result.findings)).not.toContain("hunter2");
  return result.findings[0]!;
}

describe("IDP_AUTHORIZATION_PARAMS in the environment", () => {
  it.each<[text: string, expected: Record<string, string | string[]>]>([
    ["audience=https%3A%2F%2Fapi.example.com", { audience: "https://api.example.com" }],
    ["?hd=example.com&kc_idp_hint=github", { hd: "example.com", kc_idp_hint: "github" }],
    ["resource=urn%3Aa&hd=x&resource=urn%3Ab", { resource: ["urn:a", "urn:b"], hd: "x" }],
    ["login_hint=ada+lovelace%2Bx%40example.com", { login_hint: "ada lovelace+x@example.com" }],
    ["a=b=c", { a: "b=c" }],
    ["&a=1&&b=2&", { a: "1", b: "2" }],
    ["prompt=select_account++consent", { prompt: "select_account consent" }],
    ["prompt=none", { prompt: "none" }],
  ])("%s is a query string", (text, expected) => {
    expect(parameters(fromText(text))).toEqual(expected);
  });

  it.each([
    ["hunter2", "parameter 1"],
    ["hd=", "parameter 1"],
    ["hd=%20%20", "parameter 1"],
    ["a=1&hd=hunter2%0Ax", "parameter 2"],
    ["hd=hunter2%00", "parameter 1"],
    ["resource=hunter2&resource=", "parameter 1"],
    ["=hunter2", "parameter 1"],
    ["a%20b=hunter2", "parameter 1"],
    ["prompt=hunter2", "`prompt`"],
    ["prompt=none%20login", "`prompt`"],
    ["prompt=login&prompt=consent", "`prompt`"],
  ])("%s is E006, whose remedy says which parameter, without its name and value", (text, shown) => {
    const { findings, settings } = fromText(text);
    expect(settings).toBeUndefined();
    expect(findings).toMatchObject([
      { code: "E006", message: expect.stringMatching(/^IDP_AUTHORIZATION_PARAMS \(option/) },
    ]);
    expect(findings[0]!.remedy).toContain(shown);
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });

  it.each([
    ["4,096 characters", `a=${"x".repeat(4094)}`, true],
    ["one character more", `a=${"x".repeat(4095)}`, false],
    ["4,096 characters that encoding triples", `a=${"é".repeat(800)}`, false],
    ["50 values", "a=1&".repeat(50), true],
    ["51 values of one name", "a=1&".repeat(51), false],
    ["51 names", Array.from({ length: 51 }, (_, index) => `a${String(index)}=1`).join("&"), false],
    ["a million characters", "a=1&".repeat(250_000), false],
  ])("%s: accepted is %s", (_name, text, isAccepted) => {
    if (isAccepted) parameters(fromText(text));
    else refused(fromText(text));
  });
});

describe("the option authorizationParams", () => {
  it("is an object of strings and lists of strings; the settings keep a frozen copy", () => {
    const given = { audience: "api", resource: ["urn:a", "urn:b"] };
    const read = parameters(fromCode(given));
    given.audience = "other";
    given.resource.push("urn:c");
    expect(read).toEqual({ audience: "api", resource: ["urn:a", "urn:b"] });
    expect([Object.isFrozen(read), Object.isFrozen(read?.["resource"])]).toEqual([true, true]);
  });

  it("overrides the environment as a whole", () => {
    const { providers } = readSettings(
      { authorizationParams: { hd: "b" } },
      { ...COMPLETE, IDP_AUTHORIZATION_PARAMS: "audience=a" },
    );
    expect(providers[0]?.settings.authorizationParams).toEqual({ hd: "b" });
  });

  it("may have no prototype", () => {
    expect(parameters(fromCode(Object.assign(Object.create(null) as object, { hd: "a" })))).toEqual(
      { hd: "a" },
    );
  });

  it.each<[name: string, value: unknown]>([
    ["text", "audience=hunter2"],
    ["null", null],
    ["a list", [["audience", "hunter2"]]],
    ["a URLSearchParams, which has no properties", new URLSearchParams("audience=hunter2")],
    ["a Map", new Map([["audience", "hunter2"]])],
    ["an object with a class", new (class Params { audience = "hunter2" })()], // prettier-ignore
    ["a list as prototype", { __proto__: ["hunter2"] }],
    ["a missing environment variable", { audience: undefined }],
    ["an empty text", { audience: "" }],
    ["a blank text", { audience: " \t" }],
    ["a number", { audience: 1 }],
    ["an object", { audience: { hunter2: "hunter2" } }],
    ["an empty list", { resource: [] }],
    ["a list with a number", { resource: ["hunter2", 1] }],
    ["a list in a list", { resource: [["hunter2"]] }],
    ["a sparse list", { resource: ["hunter2", , "b"] }],
    ["a list of four billion holes", { resource: new Array(2 ** 32 - 1) }],
    ["a list of 51", { resource: new Array(51).fill("hunter2") }],
    ["a line break", { audience: "hunter2\nx" }],
    ["half a surrogate pair", { audience: "hunter2\ud800" }],
    ["a long text", { audience: "hunter2".repeat(1_000_000) }],
    ["a name with a space", { "a b": "hunter2" }],
    ["a name with a line break", { "a\nb": "hunter2" }],
    ["an empty name", { "": "hunter2" }],
    ["a long name", { ["a".repeat(65)]: "hunter2" }],
    ["a list for prompt", { prompt: ["login", "consent"] }],
    ["an unknown prompt", { prompt: "hunter2" }],
    ["a getter that throws", { get audience() { throw new Error("hunter2"); } }], // prettier-ignore
    ["a proxy that throws", new Proxy({}, { ownKeys: () => { throw new Error("hunter2"); } })], // prettier-ignore
  ])("%s is E006, without the value", (_name, value) => {
    refused(fromCode(value));
  });

  it("reads a getter once", () => {
    let reads = 0;
    const value = { get hd() { reads += 1; return reads === 1 ? "a" : "\u0000"; } }; // prettier-ignore
    expect(parameters(fromCode(value))).toEqual({ hd: "a" });
  });

  it("keeps a parameter named __proto__ as an own property, and pollutes nothing", () => {
    for (const result of [
      fromText("__proto__=x&constructor=y"),
      fromCode(JSON.parse('{"__proto__":"x","constructor":"y"}')),
    ]) {
      const read = parameters(result)!;
      expect(Object.entries(read)).toEqual([["__proto__", "x"], ["constructor", "y"]]); // prettier-ignore
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    }
  });
});

describe("the names in loginParams", () => {
  it.each<[value: unknown, expected: string[]]>([
    [
      ["login_hint", "ui_locales", "login_hint"],
      ["login_hint", "ui_locales"],
    ],
    [[], []],
  ])("%j", (value, expected) => {
    expect(names(value)).toMatchObject({ findings: [], settings: { loginParams: expected } });
  });

  it.each([
    "login_hint ui_locales",
    "login_hint,ui_locales",
    " login_hint ,, ui_locales\tlogin_hint ",
  ])("%j in the environment", (text) => {
    expect(readSettings({}, { ...COMPLETE, IDP_LOGIN_PARAMS: text })).toMatchObject({
      findings: [],
      settings: { loginParams: ["login_hint", "ui_locales"] },
    });
  });

  it.each<[name: string, value: unknown]>([
    ["text", "login_hint"],
    ["a set", new Set(["login_hint"])],
    ["null", null],
    ["a number", ["login_hint", 1]],
    ["an empty name", [""]],
    ["a name with a space", ["login hint"]],
    ["a name with a bracket", ["login[hint]"]],
    ["a long name", ["a".repeat(65)]],
    ["a sparse list", ["login_hint", , "ui_locales"]],
    ["four billion holes", new Array(2 ** 32 - 1)],
    ["21 names", Array.from({ length: 21 }, (_, index) => `a${String(index)}`)],
  ])("%s is E006", (_name, value) => {
    refused(names(value));
  });
});

describe("a reserved name is E016 at the start", () => {
  const spelled = (name: string) => [name, name.toUpperCase()];

  it.each(RESERVED_PARAMETERS.flatMap(spelled))("%s in both settings", (name) => {
    for (const result of [fromText(`hd=a&${name}=hunter2`), fromCode({ [name]: "hunter2" })]) {
      expect(refused(result, "E016").message).toBe(
        `IDP_AUTHORIZATION_PARAMS (option authorizationParams) contains "${name}", which idpauth uses itself.`,
      );
    }
    expect(refused(names(["login_hint", name]), "E016").message).toBe(
      `IDP_LOGIN_PARAMS (option loginParams) contains "${name}", which idpauth uses itself.`,
    );
  });

  it.each(LOGIN_PARAMETER_NAMES.flatMap(spelled))(
    "%s, which the login reads itself, in loginParams, and in both if it belongs to a step-up",
    (name) => {
      refused(names([name]), "E016");
      const isStepUp = (STEP_UP_PARAMETERS as string[]).includes(name.toLowerCase());
      if (!isStepUp) expect(fromCode({ [name]: "x" }).findings).toEqual([]);
    },
  );

  it("lists what the protocol owns", () => {
    const owned = [
      "client_id",
      "redirect_uri",
      "response_type",
      "response_mode",
      "scope",
      "state",
      "nonce",
    ];
    const more = [
      "code_challenge",
      "code_challenge_method",
      "request",
      "request_uri",
      "id_token_hint",
      "max_age",
      "acr_values",
      "claims",
    ];
    expect(RESERVED_PARAMETERS).toEqual(expect.arrayContaining([...owned, ...more]));
  });

  it("names every reserved parameter of both settings", () => {
    const result = readSettings(
      { authorizationParams: { scope: "a", nonce: "b", hd: "c" }, loginParams: ["state"] },
      COMPLETE,
    );
    expect(result.findings.map(({ code, message }) => [code, message.match(/"\w+"/g)])).toEqual([
      ["E016", ['"state"']],
      ["E016", ['"scope"', '"nonce"']],
    ]);
  });
});
