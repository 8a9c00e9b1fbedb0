import { expect, it } from "vitest";
import { proxyFromEnvironment } from "../../src/tenants/proxy-from-environment.js";

const PROXY = { HTTPS_PROXY: "http://proxy.example:3128" };

it.each([
  [{ ...PROXY, NODE_USE_ENV_PROXY: "1" }, [], "HTTPS_PROXY"],
  [{ ...PROXY, NODE_OPTIONS: "--use-env-proxy" }, [], "HTTPS_PROXY"],
  [{ ...PROXY, NODE_OPTIONS: "--no-warnings  --use-env-proxy" }, [], "HTTPS_PROXY"],
  [PROXY, ["--use-env-proxy"], "HTTPS_PROXY"],
  [{ https_proxy: "http://p" }, ["--use-env-proxy"], "https_proxy"],
  [{ HTTP_PROXY: "http://p" }, ["--use-env-proxy"], "HTTP_PROXY"],
  [{ http_proxy: "http://p" }, ["--use-env-proxy"], "http_proxy"],
] as const)("%j with the options %j uses %s", (env, execArgv, name) => {
  expect(proxyFromEnvironment(env, execArgv)).toBe(name);
});

it.each([
  [PROXY, []],
  [{ ...PROXY, NODE_USE_ENV_PROXY: "0" }, []],
  [{ ...PROXY, NODE_USE_ENV_PROXY: "" }, []],
  [{ ...PROXY, NODE_OPTIONS: "--use-env-proxy-not" }, ["--inspect"]],
  [{ NODE_USE_ENV_PROXY: "1" }, ["--use-env-proxy"]],
  [{ NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: " " }, []],
  [{ NODE_USE_ENV_PROXY: "1", NO_PROXY: "*" }, []],
] as const)("%j with the options %j uses none", (env, execArgv) => {
  expect(proxyFromEnvironment(env, execArgv)).toBeUndefined();
});
