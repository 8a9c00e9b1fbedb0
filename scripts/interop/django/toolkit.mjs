// A Django project with django-oauth-toolkit, as the toolkit's own tutorial sets one up.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { missingPython } from "../python-environment.mjs";
import { environmentOf, startDjango } from "./django.mjs";
import { signInAtProvider } from "./pages.mjs";
import { STEPS } from "./toolkit-steps.mjs";

/**
 * @typedef {import("../servers.mjs").ClientWish & { id?: string, secret?: string, canRevoke?: boolean }} ClientWish
 *   `canRevoke`: whether the application knows the revocation endpoint
 */

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
const { version, python } = environmentOf("django-oauth-toolkit");

/** @type {import("../servers.mjs").Server} */
export default {
  key: "django-oauth-toolkit",
  title: "django-oauth-toolkit",
  version,
  notes:
    "The toolkit is a library for Django projects. The run's project contains the login page, an RSA key, and a validator that adds email, name and groups, all of which the toolkit leaves to the project. Its commands create users and clients. The toolkit has no back-channel or front-channel logout, and clients authenticate only with a secret.",
  missing: missingPython,
  start,
  steps: STEPS,
};

/** @param {string} folder */
async function start(folder) {
  let keys = [newKey()];
  const django = await startDjango({
    folder,
    python,
    app: "oauth2_provider",
    settings: (changed) => ({ OAUTH2_PROVIDER: { ...settings(keys), ...changed } }),
  });
  return {
    ...django,
    version,
    newClient: (/** @type {ClientWish} */ wish) => newClient(wish, django),
    signInAtProvider,
    revocations: async () =>
      Number(
        await django.shell(
          "from oauth2_provider.models import RefreshToken as R; print(R.objects.exclude(revoked=None).count())",
        ),
      ),
    async replaceKey(/** @type {"old key published" | "old key removed"} */ kept) {
      keys = [newKey(), ...(kept === "old key published" ? keys : [])];
      await django.restart();
    },
  };
}

/** @param {readonly string[]} keys the one that signs comes first */
function settings([key, ...old]) {
  return {
    OIDC_ENABLED: true,
    OIDC_RSA_PRIVATE_KEY: key,
    OIDC_RSA_PRIVATE_KEYS_INACTIVE: old,
    OIDC_RP_INITIATED_LOGOUT_ENABLED: true,
    OAUTH2_VALIDATOR_CLASS: "toolkit_claims.WithClaims",
    SCOPES: { openid: "Sign in", profile: "Your name", email: "Your address" },
    ACCESS_TOKEN_EXPIRE_SECONDS: TOKEN_SECONDS,
    ID_TOKEN_EXPIRE_SECONDS: TOKEN_SECONDS,
  };
}

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return String(privateKey.export({ type: "pkcs8", format: "pem" }));
}

/**
 * Registers a client with the toolkit's own command.
 *
 * @param {ClientWish} wish
 * @param {import("./django.mjs").Django} django
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(
  {
    origin,
    method = "client_secret_post",
    id = randomBytes(6).toString("hex"),
    secret = randomBytes(24).toString("base64url"),
    canRevoke = false,
  },
  { issuer, manage },
) {
  const output = await manage(
    "createapplication",
    ...["confidential", "authorization-code", `--name=${id}`, "--algorithm=RS256"],
    ...[`--client-id=${id}`, `--client-secret=${secret}`],
    `--redirect-uris=${origin}/idpauth/login-callback`,
    `--post-logout-redirect-uris=${origin}/idpauth/logout-callback`,
  );
  if (!output.includes("created successfully")) throw new Error(output);
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: id,
    IDP_CLIENT_SECRET: secret,
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
    SCOPE: "openid profile email",
    ...(canRevoke && {
      IDP_PROVIDER_METADATA: JSON.stringify({ revocation_endpoint: `${issuer}/revoke_token/` }),
    }),
  };
}
