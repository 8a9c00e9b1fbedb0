import { afterEach, beforeEach } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import type { AccessTokenOptions, IdpAuthOptions, IdpRequest } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import type { ReceivedRequest } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application, type TestUser } from "./application.js";

export const HOUR = 3_600_000;
export const ORDERS = "https://orders.example.com";
export const BILLING = "https://billing.example.com";

export const APIS = {
  orders: { url: "https://orders.internal/v2/", resource: ORDERS },
  billing: { url: "https://billing.internal/", resource: BILLING },
  graph: { url: "https://graph.example/v1.0/", scope: ["mail.read"], consent: "later" },
  reports: { url: "https://reports.internal/", audience: ["reports", "reports-guid"] },
  own: { url: "https://own.internal/" },
} as const satisfies IdpAuthOptions["apis"];

/**
 * An application with several APIs, and a provider whose access tokens for an API begin with `at_`
 * and what they were requested with.
 */
export interface ApiApplication {
  readonly application: Application;
  /**
   * What the provider adds to the response to a refresh for an API, by resource, audience or scope.
   */
  readonly responses: Record<string, object | undefined>;
  auth: IdpAuth<IdpRequest>;
  user: TestUser;
  /**
   * Another application over the same provider and store, and a user who is not signed in to it
   * yet.
   */
  use(options: Partial<IdpAuthOptions>): void;
  /** A new request of the user. */
  request(): IdpRequest;
  token(api: string, options?: AccessTokenOptions): Promise<string | null>;
  /** What `token` throws. */
  failure(api: string, options?: AccessTokenOptions): Promise<unknown>;
  /** The refreshes so far, as the provider got them. */
  refreshes(): ReceivedRequest[];
  /** What each refresh so far was for; null: the session itself. */
  targets(): (string | null)[];
  /** The provider refuses the next refreshes, each with one of these errors. */
  refuse(
    ...errors: (
      | string
      | {
          readonly error: string;
          readonly status?: number;
          readonly suberror?: string;
          readonly claims?: unknown;
        }
    )[]
  ): void;
}

/** What a refresh is for; null: the session itself, or no refresh. */
export function targetOf({ params }: ReceivedRequest): string | null {
  if (params.get("grant_type") !== "refresh_token") return null;
  return params.get("resource") ?? params.get("audience") ?? params.get("scope");
}

export async function startApiApplication(): Promise<ApiApplication> {
  const clock = new TestClock();
  const application = await startApplication({ clock, store: memoryStore({ clock }) });
  const { provider } = application;
  const responses: ApiApplication["responses"] = {};
  let count = 0;
  provider.tokenResponse = (reply, request) => {
    const target = targetOf(request);
    if (target === null) return reply;
    const { id_token: _none, ...rest } = reply;
    return {
      ...rest,
      access_token: `at_${target}_${String((count += 1))}`,
      scope: undefined,
      ...responses[target],
    };
  };
  const refreshes = () => provider.requestsTo("token", { grant_type: "refresh_token" });
  const started: ApiApplication = {
    application,
    responses,
    auth: application.auth,
    user: application.user(),
    use(options) {
      started.auth = application.another({ apis: APIS, ...options });
      started.user = application.user().at(started.auth);
    },
    request: () => started.user.request("/"),
    token: (api, options) => started.auth.getAccessToken(started.request(), { api, ...options }),
    failure: (api, options) => started.token(api, options).catch((thrown: unknown) => thrown),
    refreshes,
    targets: () => refreshes().map(targetOf),
    refuse(...errors) {
      for (const each of errors) {
        const { status = 400, ...body } = typeof each === "string" ? { error: each } : each;
        provider.fault("token", { kind: "status", times: 1, status, body });
      }
    },
  };
  started.use({});
  return started;
}

/** The application of the running test, in a file that calls {@link startForEachTest}. */
export let app: ApiApplication;

/** Starts an application before each test of a file, and stops it afterwards. */
export function startForEachTest(): void {
  beforeEach(async () => {
    app = await startApiApplication();
  });
  afterEach(() => app.application.stop());
}
