// A realm with its users and clients, by Keycloak's Admin REST API. A realm is quickly made, so a
// step that changes one makes its own.
import { randomBytes, randomUUID } from "node:crypto";
import { newClientKey } from "../client-key.mjs";

/**
 * @typedef {object} Realm
 * @property {string} name
 * @property {string} issuer
 * @property {(wish: KeycloakClientWish) => Promise<Record<string, string>>} newClient
 * @property {(user: string) => Promise<string>} userId
 * @property {(path: string) => string} path below /admin/realms
 * @property {() => Promise<number>} tokenRequests refreshes, refused ones included, by its event log
 * @property {(type: string) => Promise<KeycloakEvent[]>} events newest first
 * @property {() => Promise<void>} remove
 *
 * @typedef {object} KeycloakEvent
 * @property {string} type
 * @property {string} [error]
 * @property {Record<string, string>} [details]
 *
 * @typedef {object} KeycloakClientWish
 * @property {string} origin
 * @property {"client_secret_post" | "client_secret_basic" | "private_key_jwt" | "tls_client_auth"} [method]
 * @property {boolean} [showsCertificate] whether the client has a certificate although it
 *   authenticates by another method
 * @property {"RS256" | "PS256" | "ES256"} [keyAlgorithm] with `private_key_jwt`; default RS256
 * @property {string} [id] default: a random one
 * @property {string} [secret] default: a random one
 * @property {"back" | "front"} [logout] the channel by which Keycloak tells the application that its
 *   session has ended; default none
 * @property {Record<string, unknown>} [settings] of the client's representation
 * @property {Record<string, string>} [attributes] of the client's representation
 * @property {readonly Record<string, unknown>[]} [mappers] in addition to groups and roles
 *
 * @typedef {object} RealmWish
 * @property {Record<string, unknown>} [settings] of the realm's representation
 */

/** The one password of all users. */
export const PASSWORD = "correct horse";
/** The subject of a client's certificate. */
const CLIENT_NAME = "idpauth interop client";
/** Life of access and ID tokens, in seconds. */
const TOKEN_SECONDS = 6;
/** A refresh isn't logged unless it's named. */
const EVENTS = ["LOGIN", "LOGOUT", "CODE_TO_TOKEN", "REFRESH_TOKEN", "REVOKE_GRANT"];

/**
 * @param {Pick<import("./start.mjs").RunningKeycloak, "admin" | "url" | "env" | "newCertificate">} server
 * @param {RealmWish} [wish]
 * @returns {Promise<Realm>}
 */
export async function newRealm({ admin, url, env, newCertificate }, { settings = {} } = {}) {
  const name = `realm-${randomBytes(4).toString("hex")}`;
  const issuer = `${url}/realms/${name}`;
  await admin.post("", { ...realmSettings(name), ...settings });
  const events = (/** @type {string} */ query) => admin.get(`/${name}/events?max=10000&${query}`);
  return {
    name,
    issuer,
    path: (path) => `/${name}${path}`,
    async newClient(wish) {
      const { client, settings: own } = clientOf(wish, newCertificate);
      await admin.post(`/${name}/clients`, client);
      return { ...env, IDP_ISSUER: issuer, SCOPE: "openid profile email", ...own };
    },
    async userId(user) {
      const [found] = await admin.get(`/${name}/users?exact=true&username=${user}`);
      if (found === undefined) throw new Error(`${name} has no user ${user}`);
      return found.id;
    },
    events: (type) => events(`type=${type}`),
    async tokenRequests() {
      const seen = await events("type=REFRESH_TOKEN&type=REFRESH_TOKEN_ERROR");
      return seen.length;
    },
    remove: () => admin.delete(`/${name}`),
  };
}

/** @param {string} name */
function realmSettings(name) {
  return {
    realm: name,
    enabled: true,
    accessTokenLifespan: TOKEN_SECONDS,
    eventsEnabled: true,
    eventsExpiration: 3600,
    enabledEventTypes: EVENTS.flatMap((type) => [type, `${type}_ERROR`]),
    roles: { realm: [{ name: "admin" }] },
    groups: [{ name: "admins" }, { name: "editors" }],
    users: [
      userOf({
        username: "ada",
        lastName: "Lovelace",
        groups: ["/admins"],
        realmRoles: [`default-roles-${name}`, "admin"],
      }),
      userOf({ username: "grace", lastName: "Hopper", realmRoles: [`default-roles-${name}`] }),
    ],
  };
}

/** @param {{ username: string } & Record<string, unknown>} user */
function userOf(user) {
  const { username } = user;
  return {
    enabled: true,
    email: `${username}@example.com`,
    emailVerified: true,
    firstName: `${username[0]?.toUpperCase()}${username.slice(1)}`,
    credentials: [{ type: "password", value: PASSWORD, temporary: false }],
    ...user,
  };
}

/**
 * @param {KeycloakClientWish} wish
 * @param {import("./start.mjs").RunningKeycloak["newCertificate"]} newCertificate
 * @returns {{ client: Record<string, unknown>, settings: Record<string, string> }} what Keycloak and
 *   what the application gets
 */
function clientOf(wish, newCertificate) {
  const { origin, mappers = [], attributes, settings, logout = "none" } = wish;
  const { id = `app-${randomUUID()}` } = wish;
  const credentials = credentialsOf(wish, newCertificate);
  return {
    client: {
      clientId: id,
      ...credentials.client,
      redirectUris: [`${origin}/idpauth/login-callback`],
      protocolMappers: [...CLAIMS, ...mappers],
      frontchannelLogout: logout === "front",
      ...settings,
      attributes: {
        "post.logout.redirect.uris": `${origin}/idpauth/logout-callback`,
        ...credentials.attributes,
        ...LOGOUT[logout](origin),
        ...attributes,
      },
    },
    settings: { IDP_CLIENT_ID: id, ...credentials.settings },
  };
}

/**
 * How the client authenticates.
 *
 * @param {KeycloakClientWish} wish
 * @param {import("./start.mjs").RunningKeycloak["newCertificate"]} newCertificate
 * @returns {{ client: Record<string, string>, attributes?: Record<string, string>, settings: Record<string, string> }}
 */
function credentialsOf(wish, newCertificate) {
  const { method = "client_secret_post", keyAlgorithm, showsCertificate = false } = wish;
  const { secret = randomBytes(24).toString("base64url") } = wish;
  const named = { IDP_TOKEN_ENDPOINT_AUTH_METHOD: method };
  const certificate = () => certificateSettings(newCertificate(CLIENT_NAME));
  switch (method) {
    case "private_key_jwt": {
      const key = newKey(keyAlgorithm);
      return {
        client: { clientAuthenticatorType: "client-jwt" },
        attributes: key.attributes,
        settings: { ...key.settings, ...(showsCertificate && certificate()) },
      };
    }
    case "tls_client_auth":
      return {
        client: { clientAuthenticatorType: "client-x509" },
        attributes: { "x509.subjectdn": `CN=${CLIENT_NAME}` },
        settings: { ...certificate(), ...named },
      };
    default:
      return {
        client: { secret },
        settings: {
          IDP_CLIENT_SECRET: secret,
          ...(method === "client_secret_basic" && named),
          ...(showsCertificate && certificate()),
        },
      };
  }
}

/** @param {import("../../certificate.mjs").Certificate} certificate */
function certificateSettings({ cert, key }) {
  return { IDP_CLIENT_CERTIFICATE: cert, IDP_CLIENT_CERTIFICATE_KEY: key };
}

/** @param {"RS256" | "PS256" | "ES256"} [algorithm] */
function newKey(algorithm = "RS256") {
  const { publicKey, setting } = newClientKey(algorithm);
  return {
    attributes: {
      "use.jwks.string": "true",
      "jwks.string": JSON.stringify({ keys: [publicKey] }),
    },
    settings: { IDP_PRIVATE_KEY: setting },
  };
}

/** @type {Record<"none" | "back" | "front", (origin: string) => Record<string, string>>} */
const LOGOUT = {
  none: () => ({}),
  back: (origin) => ({
    "backchannel.logout.url": `${origin}/idpauth/backchannel-logout`,
    "backchannel.logout.session.required": "true",
  }),
  front: (origin) => ({
    "frontchannel.logout.url": `${origin}/idpauth/frontchannel-logout`,
    "frontchannel.logout.session.required": "true",
  }),
};

/** The claims `groups`, without paths, and `roles` in the ID token. */
const CLAIMS = [
  mapper("groups", "oidc-group-membership-mapper", { "full.path": "false" }),
  mapper("roles", "oidc-usermodel-realm-role-mapper", {
    multivalued: "true",
    "jsonType.label": "String",
  }),
];

/**
 * @param {string} claim
 * @param {string} protocolMapper
 * @param {Record<string, string>} config
 */
function mapper(claim, protocolMapper, config) {
  return {
    name: claim,
    protocol: "openid-connect",
    protocolMapper,
    config: {
      "claim.name": claim,
      "id.token.claim": "true",
      "access.token.claim": "true",
      "userinfo.token.claim": "true",
      ...config,
    },
  };
}
