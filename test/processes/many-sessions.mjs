// Ends many sessions of one user, in a process of its own, which prints as JSON how that went.
// `node --expose-gc test/processes/many-sessions.mjs '{"store":{"kind":"sqlite","path":"sessions.db"},"count":20000,"by":"endAllSessions"}'`
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createIdpAuth } from "idpauth/adapter";
import { memoryStore } from "idpauth";
import { signedInAs, startTestProvider } from "idpauth/testing";
import { openStore } from "./open-store.mjs";

/**
 * @typedef {object} Plan
 * @property {import("./process-options.js").StoreOptions | { kind: "memory" }} store
 * @property {number} count
 * @property {"endAllSessions" | "logout"} by `logout`: a back-channel logout
 * @property {boolean} [collects] whether to collect garbage and measure memory meanwhile; otherwise
 *   the stops of the event loop are measured
 */

/** Sign-ins at a time. */
const AT_ONCE = 50;
/** Sessions that end between two measurements of memory. */
const PER_MEASUREMENT = 2_000;

/** @type {Plan} */
const { store: options, count, by, collects = true } = JSON.parse(process.argv[2] ?? "");
const { gc } = globalThis;
if (gc === undefined) throw new Error("node --expose-gc is needed");

const provider = await startTestProvider();
const opened =
  options.kind === "memory"
    ? { store: memoryStore({ maxSessions: 1_000_000 }), close: async () => undefined }
    : await openStore(options);
const auth = createIdpAuth(
  {
    env: {},
    secretKey: "a secret key of at least 32 bytes",
    baseUrl: "http://app.example",
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    backchannelLogout: true,
    store: opened.store,
    log: () => undefined,
  },
  { name: "plain", request: (/** @type {import("idpauth").IdpRequest} */ request) => request },
);
auth.start();
const user = { iss: provider.issuer, sub: "ada" };
for (let number = 0; number < count; number += AT_ONCE) {
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, count - number) }, () =>
      signedInAs(auth, { sub: "ada", name: "Ada ".repeat(200) }),
    ),
  );
}

const inUse = () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
// The second collection finds what the first one's finalizers have freed.
inUse();
const before = inUse();
let ended = 0;
let most = before;
for (const name of /** @type {const} */ (["logout", "ended"])) {
  auth.on(name, () => {
    ended += 1;
    if (collects && ended % PER_MEASUREMENT === 0) most = Math.max(most, inUse());
  });
}
const stops = monitorEventLoopDelay({ resolution: 1 });
stops.enable();
const began = performance.now();
const status = by === "logout" ? await logout() : 200;
if (by === "endAllSessions") await auth.endAllSessions(user);
const seconds = (performance.now() - began) / 1000;
stops.disable();
const { sessions } = { sessions: await auth.listSessions(user) };
console.log(
  JSON.stringify({
    status,
    ended,
    left: sessions.length,
    growth: most - before,
    seconds,
    longestStop: stops.max / 1e6,
  }),
);
await opened.close();
await provider.stop();

/** The status of the response to a back-channel logout. */
async function logout() {
  const body = { logout_token: provider.logoutToken({ sub: "ada" }) };
  const header = (/** @type {string} */ name) =>
    name === "content-type" ? "application/x-www-form-urlencoded" : undefined;
  const reply = await auth.handle({
    method: "POST",
    target: "/idpauth/backchannel-logout",
    scheme: "http",
    host: "app.example",
    header,
    body: () => body,
  });
  return reply?.status;
}
