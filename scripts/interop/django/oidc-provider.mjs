// A Django project with django-oidc-provider, as the documentation of this app sets one up.
import { randomBytes } from "node:crypto";
import { missingPython } from "../python-environment.mjs";
import { environmentOf, startDjango } from "./django.mjs";
import { STEPS } from "./oidc-provider-steps.mjs";
import { signInAtProvider } from "./pages.mjs";

/** @typedef {import("../servers.mjs").ClientWish & { secret?: string }} ClientWish */

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
const { version, python } = environmentOf("django-oidc-provider");

/** @type {import("../servers.mjs").Server} */
export default {
  key: "django-oidc-provider",
  title: "django-oidc-provider",
  version,
  notes:
    "The app is a library for Django projects. The run's project contains the login page and a function that gives userinfo the user's name, both of which the app leaves to the project. The app's refresh tokens never expire, and each works once. It has no revocation endpoint and no back-channel or front-channel logout, and clients authenticate only with a secret.",
  missing: missingPython,
  start,
  steps: STEPS,
};

/** @param {string} folder */
async function start(folder) {
  const django = await startDjango({
    folder,
    python,
    app: "oidc_provider",
    settings: (changed) => ({
      OIDC_USERINFO: "oidc_provider_claims.userinfo",
      OIDC_TOKEN_EXPIRE: TOKEN_SECONDS,
      OIDC_IDTOKEN_EXPIRE: TOKEN_SECONDS,
      ...changed,
    }),
  });
  await django.manage("creatersakey");
  return {
    ...django,
    version,
    newClient: (/** @type {ClientWish} */ wish) => newClient(wish, django),
    signInAtProvider,
    async removeTokens(/** @type {string} */ clientId, /** @type {string} */ user) {
      await django.shell(
        `from oidc_provider.models import Token; Token.objects.filter(client__client_id="${clientId}", user__username="${user}").delete()`,
      );
    },
    /** The oldest key signs, so it has to go. */
    async replaceKey() {
      await django.manage("creatersakey");
      await django.shell(
        "from oidc_provider.models import RSAKey; RSAKey.objects.order_by('id').first().delete()",
      );
    },
  };
}

/**
 * @param {ClientWish} wish
 * @param {import("./django.mjs").Django} django
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(
  { origin, method = "client_secret_post", secret = randomBytes(24).toString("base64url") },
  { issuer, shell },
) {
  const id = randomBytes(6).toString("hex");
  const client = {
    name: id,
    client_id: id,
    client_secret: secret,
    redirect_uris: [`${origin}/idpauth/login-callback`],
    post_logout_redirect_uris: [`${origin}/idpauth/logout-callback`],
  };
  await shell(
    `from oidc_provider.models import Client, ResponseType; Client.objects.create(**${JSON.stringify(client)}).response_types.add(ResponseType.objects.get(value="code"))`,
  );
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: id,
    IDP_CLIENT_SECRET: secret,
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
    SCOPE: "openid profile email",
  };
}
