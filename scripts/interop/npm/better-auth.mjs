// better-auth with its OAuth provider plugin, as a process of its own. Its application brings the
// pages for sign-in and consent, so this file has two forms that call better-auth's own endpoints.
import { randomBytes } from "node:crypto";
import { readTask, serve } from "./provider-process.mjs";

/** @type {any} */
const { betterAuth } = await load("better-auth");
/** @type {any} */
const { memoryAdapter } = await load("better-auth/adapters/memory");
/** @type {any} */
const { toNodeHandler } = await load("better-auth/node");
/** @type {any} */
const { jwt } = await load("better-auth/plugins");
/** @type {any} */
const { oauthProvider } = await load("@better-auth/oauth-provider");

const { port, redirectUri, idTokenSeconds } = readTask();
const origin = `http://127.0.0.1:${port}`;
const issuer = `${origin}/api/auth`;
const password = randomBytes(16).toString("base64url");

/** @type {Record<string, unknown[]>} */
const database = {};
const auth = betterAuth({
  baseURL: origin,
  secret: randomBytes(32).toString("base64url"),
  database: memoryAdapter(database),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  disabledPaths: ["/token"],
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: "/login",
      consentPage: "/consent",
      idTokenExpiresIn: idTokenSeconds,
    }),
  ],
});
for (const { modelName } of Object.values(
  /** @type {Record<string, { modelName: string }>} */ ((await auth.$context).tables),
)) {
  database[modelName] ??= [];
}
const { headers: signedUp } = await auth.api.signUpEmail({
  body: { email: "ada@example.com", password, name: "The user ada" },
  returnHeaders: true,
});
const client = await auth.api.adminCreateOAuthClient({
  headers: new Headers({ cookie: signedUp.getSetCookie().map(nameAndValue).join("; ") }),
  body: {
    redirect_uris: [redirectUri],
    // A web client may have no http redirect URI, not even on loopback.
    application_type: "native",
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "refresh_token"],
    scope: "openid email profile offline_access",
  },
});

const standard = toNodeHandler(auth);

/** @type {Record<string, { path: string, body: Record<string, unknown> }>} */
const FORMS = {
  "/login": { path: "/sign-in/email", body: { email: "ada@example.com", password } },
  "/consent": { path: "/oauth2/consent", body: { accept: true } },
};

await serve(
  async (request, response) => {
    const url = new URL(request.url ?? "/", origin);
    const call = FORMS[url.pathname];
    if (call === undefined) return standard(request, response);
    if (request.method !== "POST") {
      response.writeHead(200, { "Content-Type": "text/html" }).end(form(url));
      return undefined;
    }
    const answer = await auth.handler(
      new Request(`${issuer}${call.path}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Origin: origin,
          Cookie: request.headers.cookie ?? "",
        },
        body: JSON.stringify({ ...call.body, oauth_query: url.search.slice(1) }),
      }),
    );
    const text = await answer.text();
    /** @type {{ url?: string }} */
    const { url: next } = answer.ok ? JSON.parse(text) : {};
    response.appendHeader("Content-Type", "text/plain");
    for (const cookie of answer.headers.getSetCookie()) response.appendHeader("Set-Cookie", cookie);
    if (next === undefined) response.writeHead(500).end(`${answer.status} ${text}`);
    else response.writeHead(303, { Location: next }).end();
    return undefined;
  },
  {
    port,
    tokenPath: "/api/auth/oauth2/token",
    client: { issuer, clientId: client.client_id, clientSecret: client.client_secret },
  },
);

/** @param {string} cookie */
function nameAndValue(cookie) {
  return cookie.split(";", 1)[0] ?? "";
}

/** @param {URL} url */
function form({ pathname, search }) {
  return `<!doctype html><form method="post" action="${pathname}${search.replaceAll("&", "&amp;")}"><button>Continue</button></form>`;
}

/**
 * Only this folder's installation has the package, so the compiler must not look for it.
 *
 * @param {string} name
 */
async function load(name) {
  return import(name);
}
