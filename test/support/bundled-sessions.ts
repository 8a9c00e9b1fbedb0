import type { SessionStore } from "../../src/index.js";
import { createBundledSessions } from "../../src/sessions/bundled-sessions.js";
import { createSealer } from "../../src/sessions/seal.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import type { TestProvider } from "../../src/testing/provider/test-provider.js";

/** The sessions in the store of an application with default settings, as the application has them. */
export function bundledSessions({
  store,
  clock,
  provider,
}: {
  readonly store: SessionStore;
  readonly clock: TestClock;
  readonly provider: Pick<TestProvider, "issuer" | "clientId">;
}) {
  return createBundledSessions({
    store: createReportedStore(store, clock),
    sealer: createSealer("a secret key of at least 32 bytes", []),
    clock,
    names: DEFAULT_NAMES,
    clients: [{ issuer: provider.issuer, clientId: provider.clientId }],
    namesProviders: false,
    keepIdToken: false,
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    cookieName: null,
    publicPath: "/idpauth/",
    sessionTtl: 1_209_600,
    debug: false,
  });
}

/** The names of a record's keys without settings. */
export const DEFAULT_NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
