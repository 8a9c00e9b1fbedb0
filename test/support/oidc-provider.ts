import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { errors, Provider } from "oidc-provider";
import type { CookieBrowser, FollowedResponse } from "../../src/testing/browser/cookie-browser.js";
import { providerMemory } from "./provider-memory.js";

export interface OidcProviderOptions {
  /** The application's origin. */
  readonly application: string;
  /**
   * Whether logout tokens and ID tokens contain `sid`; otherwise a logout token names the user
   * alone.
   */
  readonly withSid?: boolean;
  /**
   * Whether the client authenticates with `private_key_jwt`, and publishes its keys at the
   * application's `/idpauth/jwks`.
   */
  readonly withKey?: boolean;
  /** Whether every authorization request has to be pushed (RFC 9126). */
  readonly requirePushed?: boolean;
  /** Whether requests have to be signed (JAR), and responses can be (JARM). */
  readonly withSigning?: boolean;
  /** The resources that tokens are issued for (RFC 8707), as JWTs. */
  readonly resources?: readonly string[];
}

/**
 * The package oidc-provider with RP-initiated and back-channel logout, as a counterpart that this
 * project did not write.
 */
export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The person whom the next sign-in chooses. */
  person: string;
  /**
   * The results of the back-channel logout requests, as the provider sees them: `ok`, or the
   * error's message.
   */
  readonly delivered: string[];
  stop(): Promise<void>;
}

export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const {
    application,
    withSid = true,
    withKey = false,
    requirePushed = false,
    withSigning = false,
    resources = [],
  } = options;
  const server = createServer();
  const issuer = await listening(server);
  const client = { client_id: "counterpart", client_secret: randomBytes(24).toString("base64url") };
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const running: OidcProvider = {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    person: "ada",
    delivered: [],
    stop,
  };
  const provider = new Provider(issuer, {
    adapter: providerMemory(),
    clients: [
      {
        client_id: client.client_id,
        ...(withKey
          ? { jwks_uri: `${application}/idpauth/jwks` }
          : { client_secret: client.client_secret }),
        redirect_uris: [`${application}/idpauth/login-callback`],
        post_logout_redirect_uris: [`${application}/idpauth/logout-callback`],
        backchannel_logout_uri: `${application}/idpauth/backchannel-logout`,
        backchannel_logout_session_required: withSid,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: withKey ? "private_key_jwt" : "client_secret_post",
      },
    ],
    jwks: {
      keys: [{ ...privateKey.export({ format: "jwk" }), kid: "sig", use: "sig", alg: "RS256" }],
    },
    cookies: { keys: [randomBytes(24).toString("base64url")] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    scopes: ["openid", "offline_access", "email", "profile"],
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@example.com`,
        email_verified: true,
        name: `The user ${id}`,
      }),
    }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    // Seconds: a test moves the application's clock ahead of the provider's.
    clockTolerance: 3600,
    features: {
      devInteractions: { enabled: false },
      pushedAuthorizationRequests: {
        enabled: requirePushed,
        requirePushedAuthorizationRequests: requirePushed,
      },
      requestObjects: { enabled: withSigning, requireSignedRequestObject: withSigning },
      jwtResponseModes: { enabled: withSigning },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return { scope: "", accessTokenFormat: "jwt" };
        },
      },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = form;
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = "signed out at the provider";
        },
      },
    },
    ttl: {
      IdToken: 3600,
      AccessToken: 3600,
      AuthorizationCode: 60,
      RefreshToken: 86_400,
      Grant: 86_400,
      Interaction: 600,
      Session: 3600,
    },
    // By default the package sends no request to this machine, where the application runs.
    fetch: (url, options) => {
      const { dispatcher: _guard, ...others } = options as RequestInit & { dispatcher?: unknown };
      return fetch(url, others);
    },
  });
  provider.on("backchannel.success", () => running.delivered.push("ok"));
  provider.on("backchannel.error", (_ctx, error: Error) => running.delivered.push(error.message));
  const standard = provider.callback();
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/interaction/") !== true) return void standard(request, response);
    const finish = async () => {
      const { params } = await provider.interactionDetails(request, response);
      const grant = new provider.Grant({
        accountId: running.person,
        clientId: String(params["client_id"]),
      });
      grant.addOIDCScope(String(params["scope"]));
      const result = {
        login: { accountId: running.person },
        consent: { grantId: await grant.save() },
      };
      await provider.interactionFinished(request, response, result);
    };
    finish().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return running;

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

/** Confirms the logout on the provider's page, and follows the way back. */
export async function confirmLogout(
  browser: CookieBrowser,
  page: FollowedResponse,
): Promise<FollowedResponse> {
  const [, action] = /action="([^"]*)"/.exec(page.text) ?? [];
  const [, xsrf = ""] = /name="xsrf" value="([^"]*)"/.exec(page.text) ?? [];
  if (action === undefined)
    throw new Error(`${page.url.href} shows no logout form (${page.status}): ${page.text}`);
  return browser.follow(action, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ xsrf, logout: "yes" }).toString(),
  });
}
