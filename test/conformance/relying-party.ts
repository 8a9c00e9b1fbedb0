import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { BrowserResponse, CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import type {
  MutatedIdToken,
  IdTokenDraft,
  TestProvider,
  TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";

/** The test plans of the OpenID Foundation's suite whose modules are replayed. */
export type Plan =
  | "oidcc-client-basic-certification-test-plan"
  | "oidcc-client-config-certification-test-plan"
  | "oidcc-client-refreshtoken-test-plan"
  | "oidcc-client-test-plan"
  | "oidcc-client-rp-initiated-logout-rp-basic"
  | "oidcc-client-back-channel-logout-rp-basic"
  | "oidcc-client-front-channel-logout-rp-basic"
  | "oidcc-client-logout-test-plan"
  | "fapi2-security-profile-final-client-test-plan";

export const BASIC: Plan = "oidcc-client-basic-certification-test-plan";
export const CONFIG: Plan = "oidcc-client-config-certification-test-plan";
export const COMPREHENSIVE: Plan = "oidcc-client-test-plan";

/**
 * One module of the suite, replayed: what the provider does, and what the relying party must make
 * of it.
 */
export interface ConformanceModule {
  /** As the suite names it. */
  readonly module: string;
  readonly plans: readonly Plan[];
  /** What the relying party must do, in our own words. */
  readonly demands: string;
  /** Throws when the relying party does otherwise. Gives what was seen, in a few words. */
  run(stage: Stage): Promise<string>;
}

const PROBE = "/idpauth/session";
const HOUR = 3_600_000;

/** A sign-in through a browser, up to the response to the callback. */
export interface Attempt {
  readonly browser: CookieBrowser;
  readonly callback: BrowserResponse;
}

export interface StageOptions extends Omit<ExpressApplicationOptions, "provider"> {
  readonly provider?: TestProviderOptions;
}

/**
 * An application on a socket and a provider on another. A module may start several; all are stopped
 * at its end.
 */
export class Stage {
  #defaults: StageOptions = {};
  readonly #applications: ExpressApplication[] = [];
  readonly #closing: (() => Promise<void>)[] = [];

  /** Every application of this stage also gets these options. */
  defaultTo(options: StageOptions): this {
    this.#defaults = options;
    return this;
  }

  /**
   * By default a provider as the suite's is: the ID token says which account it is, userinfo who
   * that is, and no authorization response contains `iss`.
   */
  async start({ provider, ...options }: StageOptions = {}): Promise<ExpressApplication> {
    const { provider: ofStage, ...defaults } = this.#defaults;
    const application = await startExpressApplication({
      ...defaults,
      ...options,
      provider: { claimsInIdToken: false, announceIss: false, ...ofStage, ...provider },
    });
    this.#applications.push(application);
    return application;
  }

  /**
   * Other addresses of a provider's endpoints. `pathOf`: the real path of one; undefined: there is
   * nothing there. `paths`: what was asked for.
   */
  async forwardTo(
    provider: TestProvider,
    pathOf: (path: string) => string | undefined,
  ): Promise<{ readonly origin: string; readonly paths: string[] }> {
    const paths: string[] = [];
    const server = createServer((incoming, response) => {
      const { pathname, search } = new URL(incoming.url ?? "", "http://elsewhere.example");
      paths.push(pathname);
      const path = pathOf(pathname);
      if (path === undefined) {
        response.writeHead(404).end();
        return;
      }
      const { method, headers } = incoming;
      const onwards = httpRequest(
        `${new URL(provider.issuer).origin}${path}${search}`,
        { method, headers, agent: false },
        (reply) => {
          response.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(response);
        },
      );
      incoming.pipe(onwards);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#closing.push(
      () =>
        new Promise((resolve) => {
          server.close(() => {
            resolve();
          });
          server.closeAllConnections();
        }),
    );
    return { origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, paths };
  }

  /**
   * What the suite checks in every module; then everything stops, which fails where the provider
   * saw a violation.
   */
  async end(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
    for (const application of this.#applications.splice(0)) {
      const { provider, origin } = application;
      const redirectUri = `${origin}/idpauth/login-callback`;
      const asked = provider.requestsTo("authorize").map(({ query }) => query);
      const pushed = provider.requestsTo("par").map(({ params }) => params);
      for (const query of asked)
        if (query.has("request_uri"))
          expect([...query.keys()]).toEqual(["client_id", "request_uri"]);
      for (const query of [...pushed, ...asked.filter((one) => !one.has("request_uri"))]) {
        expect(query.get("response_type")).toBe("code");
        expect((query.get("scope") ?? "").split(" ")).toContain("openid");
        expect(query.get("redirect_uri")).toBe(redirectUri);
        expect(query.get("code_challenge_method")).toBe("S256");
        for (const name of ["state", "nonce", "code_challenge"])
          expect(query.get(name)).toMatch(/^[\w-]{43,}$/);
      }
      for (const { params } of provider.requestsTo("token", { grant_type: "authorization_code" })) {
        expect(params.get("redirect_uri")).toBe(redirectUri);
        expect(params.get("code_verifier")).toMatch(/^[\w.~-]{43,128}$/);
      }
      for (const { url } of provider.requests)
        expect(url).not.toMatch(/access_token|refresh_token|client_secret/);
      await application.stop();
    }
  }
}

/** A browser's whole way: login, the provider's page, callback. */
export async function signIn(
  application: ExpressApplication,
  browser = application.browser(),
): Promise<Attempt> {
  const login = await browser.navigate("/idpauth/login/");
  expect(login.status).toBe(302);
  const response = await browser.navigate(login.location ?? "");
  return { browser, callback: await browser.navigate(response.location ?? "") };
}

/** The user of the probe; null when signed out. */
export async function userOf(
  browser: CookieBrowser,
): Promise<Record<string, string | null> | null> {
  const probe = await browser.get(PROBE);
  expect(probe.status).toBe(200);
  const { authenticated, user } = probe.json();
  expect(authenticated).toBe(user !== null);
  return user as Record<string, string | null> | null;
}

/** Signs in, and expects that to succeed and the user to be who userinfo says it is. */
export async function expectSignedIn(application: ExpressApplication): Promise<Attempt> {
  const attempt = await signIn(application);
  expect([attempt.callback.status, attempt.callback.location]).toEqual([302, "/idpauth/"]);
  expect(await userOf(attempt.browser)).toMatchObject({
    email: "ada@example.com",
    name: "Ada Lovelace",
  });
  return attempt;
}

/**
 * Signs in, and expects an error page, no session, and no use of the access token. Gives what was
 * seen.
 *
 * @param status 503: what a wrong configuration can cause, too
 */
export async function expectRefused(
  application: ExpressApplication,
  reason: string,
  status: 400 | 503 = 400,
): Promise<string> {
  const { browser, callback } = await signIn(application);
  expect([callback.status, callback.headers["content-type"]]).toEqual([
    status,
    "text/html; charset=utf-8",
  ]);
  expect(await userOf(browser)).toBeNull();
  expect(application.provider.requestsTo("userinfo")).toEqual([]);
  expect(
    application.log.filter(({ code }) => code === "callback_failed").map(({ message }) => message),
  ).toEqual([`A sign-in couldn't be completed (${reason}).`]);
  const tokenRequests = application.provider.requestsTo("token").length;
  return `${String(status)} page, ${reason}; ${tokenRequests === 0 ? "no token request, " : ""}no userinfo request, no session`;
}

/**
 * A module in which every ID token has these claims changed, and the relying party must refuse it
 * for this reason.
 */
export function claimsRefused({
  claims,
  reason,
  status,
  ...module
}: Omit<ConformanceModule, "run"> & {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly reason: string;
  /** Default 400. */
  readonly status?: 503;
}): ConformanceModule {
  return {
    ...module,
    run: async (stage) => expectRefused(withClaims(await stage.start(), claims), reason, status),
  };
}

/**
 * A discovery document of another issuer, which the relying party must refuse. Gives what was seen.
 */
export async function expectIssuerMismatch(stage: Stage): Promise<string> {
  const application = await stage.start();
  application.provider.discoveryDocument = (document) => ({
    ...document,
    issuer: "https://op.evil.example",
  });
  const browser = application.browser();
  const login = await browser.get("/idpauth/login/");
  expect(login.status).toBe(503);
  expect(await userOf(browser)).toBeNull();
  expect(application.provider.requests.map(({ endpoint }) => endpoint)).toEqual(["discovery"]);
  expect(
    application.log.filter(({ level }) => level === "error").map(({ details }) => details?.reason),
  ).toEqual(["issuer_mismatch"]);
  return "503, issuer_mismatch in the log; no user was sent to the authorization endpoint";
}

/** One refresh that the relying party must refuse. Gives what was seen. */
export async function expectRefreshRefused(
  application: ExpressApplication,
  mutation: (draft: IdTokenDraft) => MutatedIdToken,
  reason: string,
): Promise<string> {
  const { browser } = await expectSignedIn(application);
  const { provider, clock, log } = application;
  clock.advance(HOUR);
  provider.mutateIdToken = mutation;
  for (let probe = 0; probe < 3; probe += 1) expect(await userOf(browser)).toBeNull();
  expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
  expect(provider.requestsTo("userinfo")).toHaveLength(1);
  expect(
    log.filter(({ code }) => code === "refresh_rejected").map(({ message }) => message),
  ).toEqual([`A refresh was rejected (${reason}).`]);
  return `the session ends, ${reason}; three probes cause one token request, and the new access token is not used`;
}

/**
 * One refresh whose ID token the relying party must not accept, although it keeps the session.
 * Gives what was seen.
 */
export async function expectRefreshDoubted(
  application: ExpressApplication,
  mutation: (draft: IdTokenDraft) => MutatedIdToken,
  reason: string,
): Promise<string> {
  const { browser } = await expectSignedIn(application);
  const { provider, clock, log } = application;
  clock.advance(HOUR);
  provider.mutateIdToken = mutation;
  for (let probe = 0; probe < 3; probe += 1) expect((await browser.get(PROBE)).status).toBe(503);
  expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
  expect(provider.requestsTo("userinfo")).toHaveLength(1);
  expect(
    log.filter(({ code }) => code === "provider_misconfigured").map(({ details }) => details),
  ).toMatchObject([{ reason }]);
  return `503, ${reason}; three probes cause one token request, and the new access token is not used`;
}

/** Time passes until the ID token has expired. */
export function untilExpired({ clock }: ExpressApplication): void {
  clock.advance(HOUR);
}

/** Every ID token is made with these claims changed; undefined takes one away. */
export function withClaims(
  application: ExpressApplication,
  changes: Readonly<Record<string, unknown>>,
): ExpressApplication {
  application.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, ...changes } });
  return application;
}

/** Every ID token gets this header beside what it has; undefined takes a member away. */
export function withHeader(
  application: ExpressApplication,
  changes: Readonly<Record<string, unknown>>,
): ExpressApplication {
  application.provider.mutateIdToken = ({ header }) => ({ header: { ...header, ...changes } });
  return application;
}
