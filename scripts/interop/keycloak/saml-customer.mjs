// A customer whose provider supports only SAML: a realm that plays this provider, and a realm of ours
// that brokers it. Both are set up by Keycloak's Admin REST API.
import { eventually } from "../application/tab.mjs";
import { PASSWORD } from "./realm.mjs";

/** @typedef {import("./keycloak.mjs").KeycloakServer} KeycloakServer */

/** Of the identity provider in the broker's realm, which `kc_idp_hint` names. */
export const ALIAS = "customer";
const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
/** A user's property in both realms -> the SAML attribute that transports it. */
const ATTRIBUTES = {
  email: "urn:oid:1.2.840.113549.1.9.1",
  firstName: "urn:oid:2.5.4.42",
  lastName: "urn:oid:2.5.4.4",
};

/**
 * @typedef {object} Brokered
 * @property {KeycloakServer} broker where the application is registered; nobody has an account yet.
 *   Its `signInAtProvider` uses the customer's login page.
 * @property {KeycloakServer} customer with the users ada and grace
 */

/**
 * @param {import("../servers.mjs").Stage} stage
 * @returns {Promise<Brokered>}
 */
export async function newBroker(stage) {
  /** @type {KeycloakServer} */
  const customer = await stage.server.newServer();
  /** @type {KeycloakServer} */
  const broker = await stage.server.newServer({ settings: { users: [] } });
  const { admin } = broker.keycloak;
  const endpoint = `${broker.issuer}/broker/${ALIAS}/endpoint`;
  await admin.post(
    customer.realm.path("/clients"),
    samlClient({ id: broker.issuer, endpoint, certificate: await certificateOf(broker) }),
  );
  await admin.post(
    broker.realm.path("/identity-provider/instances"),
    identityProvider({ broker, customer, certificate: await certificateOf(customer) }),
  );
  for (const mapper of Object.entries(ATTRIBUTES).map(attributeImporter))
    await admin.post(broker.realm.path(`/identity-provider/instances/${ALIAS}/mappers`), mapper);
  return {
    customer,
    broker: {
      ...broker,
      signInAtProvider: (page, user) => signInAtCustomer({ page, user, customer }),
    },
  };
}

/**
 * From the broker's address to the customer's page, and back to the application. Between the two
 * realms are pages whose forms send themselves.
 *
 * @param {object} signIn
 * @param {import("playwright-core").Page} signIn.page
 * @param {string} [signIn.user]
 * @param {KeycloakServer} signIn.customer
 */
async function signInAtCustomer({ page, user = "ada", customer }) {
  const { origin } = new URL(customer.issuer);
  await page.waitForURL((url) => url.href.startsWith(`${customer.issuer}/`));
  await sendPassword(page, user);
  await eventually(() => new URL(page.url()).origin !== origin);
}

/**
 * Sends the form of the login page that is shown, whichever page follows.
 *
 * @param {import("playwright-core").Page} page
 * @param {string} user
 */
export async function sendPassword(page, user) {
  await page.locator("#username").fill(user);
  await page.locator("#password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign In", exact: true }).click();
}

/** @param {KeycloakServer} server */
async function certificateOf({ keycloak: { admin }, realm }) {
  const { active, keys } = await admin.get(realm.path("/keys"));
  const key = keys.find((/** @type {{ kid: string }} */ { kid }) => kid === active.RS256);
  return key.certificate;
}

/**
 * The broker as the customer registers it.
 *
 * @param {{ id: string, endpoint: string, certificate: string }} broker
 */
function samlClient({ id, endpoint, certificate }) {
  return {
    protocol: "saml",
    clientId: id,
    redirectUris: [endpoint],
    frontchannelLogout: true,
    attributes: {
      "saml.client.signature": "true",
      "saml.signing.certificate": certificate,
      "saml.server.signature": "true",
      "saml.assertion.signature": "true",
      "saml.force.post.binding": "true",
      "saml.authnstatement": "true",
      saml_name_id_format: "persistent",
      saml_assertion_consumer_url_post: endpoint,
      saml_single_logout_service_url_post: endpoint,
    },
    protocolMappers: Object.entries(ATTRIBUTES).map(([property, attribute]) => ({
      name: property,
      protocol: "saml",
      protocolMapper: "saml-user-property-mapper",
      config: {
        "user.attribute": property,
        "attribute.name": attribute,
        "attribute.nameformat": "URI Reference",
      },
    })),
  };
}

/** @param {Brokered & { certificate: string }} wish the customer's certificate */
function identityProvider({ broker, customer, certificate }) {
  return {
    alias: ALIAS,
    providerId: "saml",
    enabled: true,
    // Otherwise Keycloak has the user confirm the address, or says that it isn't verified.
    trustEmail: true,
    config: {
      entityId: broker.issuer,
      idpEntityId: customer.issuer,
      singleSignOnServiceUrl: `${customer.issuer}/protocol/saml`,
      singleLogoutServiceUrl: `${customer.issuer}/protocol/saml`,
      nameIDPolicyFormat: PERSISTENT,
      principalType: "SUBJECT",
      postBindingAuthnRequest: "true",
      postBindingResponse: "true",
      postBindingLogout: "true",
      wantAuthnRequestsSigned: "true",
      signatureAlgorithm: "RSA_SHA256",
      wantAssertionsSigned: "true",
      validateSignature: "true",
      signingCertificate: certificate,
      syncMode: "FORCE",
    },
  };
}

/** @param {[property: string, attribute: string]} mapping */
function attributeImporter([property, attribute]) {
  return {
    name: property,
    identityProviderAlias: ALIAS,
    identityProviderMapper: "saml-user-attribute-idp-mapper",
    config: { syncMode: "INHERIT", "attribute.name": attribute, "user.attribute": property },
  };
}
