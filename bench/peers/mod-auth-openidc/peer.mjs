import { fileURLToPath } from "node:url";
import { programBehindProxy } from "../program-behind-proxy.mjs";
import { apache, moduleSize, moduleVersion, unpackPackages } from "./packages.mjs";

const DOCUMENTATION = "https://github.com/OpenIDC/mod_auth_openidc";
const READ = "2026-11-27";
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @param {import("../../compare/peer.mjs").StartOptions} options @param {number} upstream port */
function proxy(options, upstream, isBare = false) {
  const { port, origin, issuer, clientId, clientSecret, redisUrl, folder } = options;
  const defined = [...(isBare ? ["BARE"] : []), ...(process.getuid?.() === 0 ? ["ROOT"] : [])];
  const { command, args, serverRoot } = apache([
    "-f",
    file("httpd.conf"),
    ...defined.flatMap((name) => ["-D", name]),
    "-D",
    "FOREGROUND",
  ]);
  const env = {
    SERVER_ROOT: serverRoot,
    CONFIGURATION: file("openidc.conf"),
    FOLDER: folder,
    PORT: String(port),
    UPSTREAM_PORT: String(upstream),
    ORIGIN: origin,
    ISSUER: issuer,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    REDIS_SERVER: new URL(redisUrl).host,
  };
  return { command, args, env, port };
}

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "mod_auth_openidc",
  framework: "Apache 2.4 as a proxy",
  prepare: ({ say }) => unpackPackages(say),
  version: moduleVersion,
  async start(options) {
    const upstream = await options.freePort();
    const headers = { token: "oidc_access_token", user: "oidc_claim_sub" };
    return [programBehindProxy(options, upstream, headers), proxy(options, upstream)];
  },
  async bare(options) {
    const upstream = await options.freePort();
    return [programBehindProxy(options, upstream), proxy(options, upstream, true)];
  },
  paths: {
    login: "/login",
    logout: "/redirect_uri?logout=",
    probe: "/redirect_uri?info=json",
    backchannelLogout: "/redirect_uri?logout=backchannel",
  },
  // The login is a redirect to the module, which redirects to the provider.
  async begin(browser) {
    const { location } = await browser.navigate("/login");
    return browser.navigate(location ?? "/login");
  },
  store: "Redis",
  size: async () => moduleSize(),
  links: [
    {
      url: `${DOCUMENTATION}#quickstart-with-a-generic-openid-connect-provider`,
      read: READ,
      decided: "provider, client, redirect URI, protected location",
    },
    { url: `${DOCUMENTATION}/wiki/Caching`, read: READ, decided: "sessions in Redis" },
    {
      url: `${DOCUMENTATION}/wiki/Access-Tokens-and-Refresh-Tokens`,
      read: READ,
      decided: "`OIDCRefreshAccessTokenBeforeExpiry`, the header with the access token",
    },
    {
      url: `${DOCUMENTATION}/wiki/Known-Limitations`,
      read: READ,
      decided: "nothing to set for parallel refreshes",
    },
    {
      url: `${DOCUMENTATION}/blob/master/auth_openidc.conf`,
      read: READ,
      decided: "`OIDCSessionInactivityTimeout`, `OIDCInfoHook`, logout",
    },
  ],
  notes: [
    "Its documentation lists parallel refreshes on several servers as a known limitation, and advises against rotation there unless each user stays on one server. Here, requests go to both servers, and whether both refresh varies from run to run.",
    "After a failed refresh it doesn't try again for 30 seconds, and responds with 502 for that time, or for good if the provider has revoked the refresh token. `OIDCRefreshAccessTokenBeforeExpiry` can also end the session (`logout_on_error`) or begin a sign-in (`authenticate_on_error`); the documentation recommends none of the three.",
    "A request waits for another one's refresh for at most 5 seconds, which can't be configured. What happens after a longer one depends on the order of the requests.",
    "For keys that it doesn't know, it requests the provider's key set at most once a minute.",
    "The version is that of Debian's testing. Debian 12 has 2.4.12.3, which doesn't combine parallel refreshes yet.",
    "The module responds to the probe itself, but the bare proxy passes it on to the application behind. The memory includes that application.",
  ],
};
