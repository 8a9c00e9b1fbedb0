// Glewlwyd's admin REST API: users, clients, scopes and the instance of its OpenID Connect plugin.
import { randomBytes } from "node:crypto";
import { newClientKey } from "../client-key.mjs";
import { PASSWORD } from "./pages.mjs";

/**
 * @typedef {import("../servers.mjs").ClientWish & {
 *   id?: string, secret?: string, methods?: readonly string[], logout?: "back-channel" | "front-channel",
 * }} ClientWish `methods`: those that Glewlwyd accepts from the client; default: the one that it uses
 * @typedef {(method: string, where: string, body?: unknown) => Promise<any>} Call
 */

/** The administrator of the package's database. */
const ADMINISTRATOR = { username: "admin", password: "password" };
const SCOPES = ["openid", "profile", "email", "groups"];
const USERS = [
  { username: "ada", name: "Ada Lovelace", groups: ["admins"] },
  { username: "grace", name: "Grace Hopper", groups: ["readers"] },
].map((user) => ({ ...user, email: `${user.username}@example.com`, scope: SCOPES }));
const LISTS = { multiple: true, read: true, write: true };

/** @param {string} origin of the server */
export function createAdmin(origin) {
  let key = "";
  /** @type {Call} */
  const call = async (method, where, body) => {
    const answer = await fetch(`${origin}/api/${where}`, {
      method,
      headers: { "content-type": "application/json", authorization: `token ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${where}: status ${answer.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    /** @param {Record<string, unknown>} parameters of the plugin */
    async setUp(parameters) {
      key = await newApiKey(origin);
      await addProperties(call, "user", { groups: LISTS });
      // Glewlwyd reads this property, and the package's database has it only in the singular.
      await addProperties(call, "client", { post_logout_redirect_uris: LISTS });
      for (const name of SCOPES.filter((scope) => scope !== "openid"))
        await call("POST", "scope", { name, display_name: name, password_required: true });
      for (const user of USERS) await call("POST", "user", { ...user, password: PASSWORD });
      await call("POST", "mod/plugin", {
        ...{ module: "oidc", name: "oidc", display_name: "OpenID Connect", parameters },
        enabled: true,
      });
    },
    /** @param {Record<string, unknown>} parameters of the plugin, which takes them at once */
    async configure(parameters) {
      await call("PUT", "mod/plugin/oidc", { display_name: "OpenID Connect", parameters });
      await call("PUT", "mod/plugin/oidc/reset");
    },
    /** @param {ClientWish} wish */
    newClient: (wish) => newClient(wish, call),
    /** @param {string} username @param {boolean} enabled */
    async setEnabled(username, enabled) {
      const user = USERS.find((each) => each.username === username);
      await call("PUT", `user/${username}`, { ...user, enabled });
    },
    /** @param {string} username */
    removeUser: (username) => call("DELETE", `user/${username}`),
    /** @param {string} username */
    async restoreUser(username) {
      const user = USERS.find((each) => each.username === username);
      await call("POST", "user", { ...user, password: PASSWORD });
    },
  };
}

/**
 * @param {string} origin
 * @returns {Promise<string>} a key of the API, which outlives the administrator's session
 */
async function newApiKey(origin) {
  const body = JSON.stringify(ADMINISTRATOR);
  const headers = { "content-type": "application/json" };
  const session = await fetch(`${origin}/api/auth/`, { method: "POST", headers, body });
  const [cookie = ""] = session.headers.getSetCookie()[0]?.split(";") ?? [];
  const answer = await fetch(`${origin}/api/key`, { method: "POST", headers: { cookie } });
  if (!answer.ok) throw new Error(`POST key: status ${answer.status}`);
  return /** @type {{ key: string }} */ (await answer.json()).key;
}

/**
 * @param {Call} call
 * @param {"user" | "client"} kind
 * @param {Record<string, object>} added properties that users or clients can have
 */
async function addProperties(call, kind, added) {
  const { parameters, ...module } = await call("GET", `mod/${kind}/database`);
  const format = { ...parameters["data-format"], ...added };
  await call("PUT", `mod/${kind}/database`, {
    ...module,
    parameters: { ...parameters, "data-format": format },
  });
  await call("PUT", `mod/${kind}/database/reset`);
}

/**
 * @param {ClientWish} wish
 * @param {Call} call
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(
  {
    origin,
    method = "client_secret_post",
    id = randomBytes(6).toString("hex"),
    secret = randomBytes(24).toString("base64url"),
    methods = [method],
    logout,
  },
  call,
) {
  const key = method === "private_key_jwt" ? newClientKey("RS256") : undefined;
  await call("POST", "client", {
    client_id: id,
    name: `The application at ${origin}`,
    enabled: true,
    confidential: true,
    token_endpoint_auth_method: methods,
    authorization_type: ["code", "refresh_token"],
    redirect_uri: [`${origin}/idpauth/login-callback`],
    post_logout_redirect_uris: [`${origin}/idpauth/logout-callback`],
    ...(key ? { jwks: { keys: [key.publicKey] } } : { client_secret: secret }),
    ...(logout === "back-channel" && {
      backchannel_logout_uri: `${origin}/idpauth/backchannel-logout`,
      backchannel_logout_session_required: "true",
    }),
    ...(logout === "front-channel" && {
      frontchannel_logout_uri: `${origin}/idpauth/frontchannel-logout`,
      frontchannel_logout_session_required: "true",
    }),
  });
  return {
    IDP_CLIENT_ID: id,
    SCOPE: SCOPES.join(" "),
    ...(key
      ? { IDP_PRIVATE_KEY: key.setting }
      : { IDP_CLIENT_SECRET: secret, IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }),
  };
}
