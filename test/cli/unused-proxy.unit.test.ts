import { describe, expect, it } from "vitest";
import { unusedProxy } from "../../src/cli/live/unused-proxy.js";

const ADDRESS = "https://login.example/.well-known/openid-configuration";
const PROXY = "http://proxy.internal:3128";
const NEW = new Set(["--use-env-proxy"]);
const OLD = new Set<string>();

describe("a proxy variable that Node.js doesn't use", () => {
  it.each<[string, Record<string, string>, string, Set<string>]>([
    ["HTTPS_PROXY", { HTTPS_PROXY: PROXY }, "only with NODE_USE_ENV_PROXY=1", NEW],
    ["https_proxy", { https_proxy: PROXY }, "only with NODE_USE_ENV_PROXY=1", NEW],
    ["HTTPS_PROXY", { HTTPS_PROXY: PROXY, NODE_USE_ENV_PROXY: "1" }, "can't use it", OLD],
    ["HTTPS_PROXY", { HTTPS_PROXY: PROXY, NO_PROXY: "other.example, n.example" }, "only", NEW],
  ])("is named: %s", (name, env, words, flags) => {
    expect(unusedProxy(ADDRESS, env, flags)).toMatch(new RegExp(`^${name} is set, but .*${words}`));
  });

  it.each<[string, Record<string, string>]>([
    ["none is set", {}],
    ["it is empty", { HTTPS_PROXY: " " }],
    ["it is for http", { HTTP_PROXY: PROXY }],
    ["Node.js uses it", { HTTPS_PROXY: PROXY, NODE_USE_ENV_PROXY: "1" }],
    ["Node.js uses it by NODE_OPTIONS", { HTTPS_PROXY: PROXY, NODE_OPTIONS: "--use-env-proxy" }],
    ["NO_PROXY has everything", { HTTPS_PROXY: PROXY, NO_PROXY: "*" }],
    ["NO_PROXY has the hostname", { HTTPS_PROXY: PROXY, NO_PROXY: "a,login.example:443" }],
    ["no_proxy has the domain", { HTTPS_PROXY: PROXY, no_proxy: ".example" }],
  ])("is not named if %s", (_why, env) => {
    expect(unusedProxy(ADDRESS, env, NEW)).toBeUndefined();
  });

  it("of http is named for an http address, without the proxy's own address", () => {
    const env = { HTTP_PROXY: "http://user:secret@proxy.internal", HTTPS_PROXY: PROXY };
    const remedy = unusedProxy("http://login.example/", env, NEW);
    expect(remedy).toMatch(/^HTTP_PROXY is set/);
    expect(remedy).not.toContain("secret");
  });
});
