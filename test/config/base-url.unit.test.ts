import { describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";
import type { SettingOptions } from "../../src/config/setting-options.js";
import { UNREACHED } from "../support/options-for.js";

const { env: _env, ...REQUIRED } = UNREACHED;

function read(options: SettingOptions, env: Record<string, string> = {}) {
  const { settings, findings } = readSettings(
    { ...REQUIRED, secretKey: "0123456789abcdef0123456789ABCDEF-unguessable", ...options },
    env,
  );
  return { baseUrl: settings?.baseUrl, findings };
}

const codesOf = (options: SettingOptions, env?: Record<string, string>) =>
  read(options, env)
    .findings.map(({ code }) => code)
    .filter((code) => !["E004", "W004"].includes(code));

const LIST = ["https://app.example", "https://*.app.example"];

describe("several origins", () => {
  it("are a list in code, and separated by white space in the environment", () => {
    const written = "https://app.example\n  https://*.app.example";
    for (const { baseUrl, findings } of [
      read({ baseUrl: LIST }),
      read({}, { BASE_URL: written }),
    ]) {
      expect(baseUrl).toMatchObject({ list: LIST });
      expect(findings.map(({ code }) => code)).not.toContain("W001");
    }
  });

  it("are in the form in which browsers write them", () => {
    const given = ["HTTPS://App.Example:443/", "https://*.BÜCHER.example", "http://[0::1]:3000"];
    expect(read({ baseUrl: given }).baseUrl).toMatchObject({
      list: ["https://app.example", "https://*.xn--bcher-kva.example", "http://[::1]:3000"],
    });
  });

  it("one alone is as a string, unless it has a wildcard", () => {
    expect(read({ baseUrl: ["https://app.example"] }).baseUrl).toBe("https://app.example");
    expect(read({}, { BASE_URL: "https://app.example" }).baseUrl).toBe("https://app.example");
    expect(read({}, { BASE_URL: "https://*.app.example" }).baseUrl).toMatchObject({
      list: ["https://*.app.example"],
    });
  });

  it.each<[string, readonly unknown[]]>([
    ["an empty list", []],
    ["a path", ["https://app.example", "https://b.example/shop"]],
    ["the same host twice", ["https://app.example", "https://APP.example:443"]],
    ["the same host with both schemes", ["https://app.example", "http://app.example"]],
    ["a wildcard twice", ["https://*.app.example", "https://*.app.example"]],
    ["a wildcard of everything", ["https://*"]],
    ["a wildcard of everything with a dot", ["https://*."]],
    ["a wildcard below a top-level domain", ["https://*.com"]],
    ["a wildcard within a label", ["https://shop-*.app.example"]],
    ["a wildcard in the middle", ["https://a.*.app.example"]],
    ["two wildcards", ["https://*.*.app.example"]],
    ["a wildcard before an IPv4 address", ["https://*.192.0.2.1"]],
    ["a wildcard before a short IPv4 address", ["https://*.2.1"]],
    ["a wildcard before an IPv6 address", ["https://*.[::1]"]],
    ["a wildcard as the scheme", ["*://app.example"]],
    ["user info", ["https://user@app.example"]],
    ["a query", ["https://app.example?a"]],
    ["another scheme", ["ftp://app.example", "https://b.example"]],
    ["something else", ["https://app.example", 1]],
    ["a hole", [, "https://app.example"]],
  ])("with %s are the error E006", (_what, baseUrl) => {
    expect(codesOf({ baseUrl: baseUrl as readonly string[] })).toContain("E006");
    if (baseUrl.length > 0 && Array.from(baseUrl).every((entry) => typeof entry === "string"))
      expect(codesOf({}, { BASE_URL: baseUrl.join(" ") })).toContain("E006");
  });

  it.each<[readonly string[], RegExp]>([
    [["https://app.example", "https://b.example/shop"], /IDP_PATH_PREFIX/],
    [["https://*.com"], /at least two labels/],
    [["https://app.example", "http://app.example"], /each host once/],
  ])("the remedy for %j says what is wrong", (baseUrl, words) => {
    const { findings } = read({ baseUrl });
    expect(findings.find(({ code }) => code === "E006")?.remedy).toMatch(words);
  });

  it("below localhost, a wildcard needs no second label", () => {
    const baseUrl = ["http://localhost:3000", "http://*.localhost:3000"];
    expect(codesOf({ baseUrl })).toEqual([]);
    expect(codesOf({ baseUrl, debug: true })).toEqual([]);
  });

  it("warn of http on another machine, and of debug mode on one", () => {
    expect(codesOf({ baseUrl: ["https://app.example", "http://b.example"] })).toEqual(["W009"]);
    const mixed = ["http://localhost:3000", "https://app.example"];
    expect(codesOf({ baseUrl: mixed, debug: true })).toEqual(["W010"]);
    expect(codesOf({ baseUrl: () => undefined, debug: true })).toEqual(["W010"]);
  });

  it.each<[string, SettingOptions["baseUrl"], string | undefined]>([
    ["__Host-sid", LIST, undefined],
    ["sid", LIST, "E035"],
    ["__Secure-sid", LIST, "E035"],
    ["sid", () => undefined, "E035"],
    ["__Host-sid", () => undefined, undefined],
    ["sid", ["http://a.localhost:3000", "http://b.localhost:3000"], undefined],
    ["sid", ["http://a.localhost:3000", "https://app.example"], "E035"],
    ["__Host-sid", ["http://a.localhost:3000", "https://app.example"], "E011"],
    ["sid", "https://app.example", "W013"],
  ])("the cookie %s at %j: %s", (cookieName, baseUrl, code) => {
    expect(codesOf({ cookieName, baseUrl })).toEqual(code === undefined ? [] : [code]);
  });

  it("a callback origin needs several origins, and https on another machine", () => {
    const callbackOrigin = "https://login.example";
    expect(codesOf({ baseUrl: LIST, callbackOrigin })).toEqual([]);
    expect(codesOf({ baseUrl: () => undefined, callbackOrigin })).toEqual([]);
    expect(codesOf({ baseUrl: "https://app.example", callbackOrigin })).toEqual(["E037"]);
    expect(codesOf({ callbackOrigin })).toEqual(["W001", "E037"]);
    expect(codesOf({ baseUrl: LIST, callbackOrigin: "http://login.example" })).toEqual(["W009"]);
    expect(codesOf({ baseUrl: LIST, callbackOrigin: "https://*.login.example" })).toEqual(["E006"]);
  });

  it.each<[string, SettingOptions["baseUrl"], boolean]>([
    ["/welcome", LIST, true],
    ["https://app.example/bye", LIST, true],
    ["https://acme.app.example/bye", LIST, true],
    ["https://a.b.app.example/bye", LIST, false],
    ["http://app.example/bye", LIST, false],
    ["https://elsewhere.example/bye", LIST, false],
    ["https://app.example/bye", () => undefined, false],
    ["/welcome", () => undefined, true],
    ["https://elsewhere.example/bye", "https://app.example", true],
  ])("redirects to %s with %j are allowed: %s", (url, baseUrl, isAllowed) => {
    const expected = isAllowed ? [] : ["E036"];
    expect(codesOf({ authFinalRedirectUrl: url, baseUrl })).toEqual(expected);
    expect(codesOf({ authLogoutRedirectUrl: url, baseUrl })).toEqual(expected);
  });
});
