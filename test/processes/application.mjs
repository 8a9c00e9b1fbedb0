// One real process of an application: Express over the package as it is published. Says its port
// when it is ready, and ends on SIGTERM when all that it has begun is finished.
import express from "express";
import { isOutage } from "idpauth";
import { idpAuth } from "idpauth/express";
import { dyingStore } from "./dying-store.mjs";
import { openStore } from "./open-store.mjs";
import { suspendAtRequest, suspendingStore } from "./suspending.mjs";

/** @type {import("./process-options.js").ProcessOptions} */
const options = JSON.parse(process.argv[2] ?? "{}");
const {
  secretKey,
  secretKeyFallbacks = [],
  issuer,
  clientId,
  clientSecret,
  httpTimeout,
  speed = 1,
  dpop = false,
} = options;

/**
 * Waits and deadlines pass faster, so that nobody waits 40 s for a lease; the date stays, since
 * tokens are dated by the provider.
 */
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * speed,
  /** @param {number} milliseconds @param {() => void} task */
  timer(milliseconds, task) {
    const handle = setTimeout(task, milliseconds / speed).unref();
    return () => clearTimeout(handle);
  },
};

// When the test is gone, however it went, so is its process.
process.on("disconnect", () => process.exit(1));

/** @type {import("idpauth").IdpAuthOptions["apis"]} */
const apis = {
  orders: { url: "https://orders.internal/", resource: "https://orders.example.com" },
  billing: { url: "https://billing.internal/", resource: "https://billing.example.com" },
};
const { store, close } = await openStore(options.store);
suspendAtRequest(options.suspension);
const auth = idpAuth({
  env: {},
  secretKey,
  secretKeyFallbacks,
  issuer,
  clientId,
  clientSecret,
  httpTimeout,
  dpop,
  scope: ["openid", "email", "profile", "offline_access"],
  baseUrl: "http://app.example",
  store: suspendingStore(dyingStore(store, options.death), options.suspension),
  clock,
  backchannelLogout: true,
  apis,
});

const app = express();
auth.mount(app);
app.get("/guarded", auth.idpRequired, async (request, response) => {
  const [user, credentials] = [
    (await auth.clientState(request)).user,
    await auth.getCredentials(request),
  ];
  response.json({ authenticated: user !== null, user, token: credentials?.token });
});

app.get("/token/:api", async (request, response) => {
  response.json({ token: await auth.getAccessToken(request, { api: request.params.api }) });
});

// An outage between the guard and the handler is no mistake of the application. Any other error is
// printed, and fails the scenario.
/** @type {import("express").ErrorRequestHandler} */
const respondToOutage = (error, _request, response, next) =>
  isOutage(error) ? void response.status(503).json({ code: error.code }) : next(error);
app.use(respondToOutage);

let openConnections = 0;
/** A connection that stays open until the session ends. Says why it ended. */
app.get("/until-ended", (request, response) => {
  const ended = auth.whenEnded(request);
  openConnections += 1;
  response.once("close", () => (openConnections -= 1));
  ended.addEventListener("abort", () => response.end(ended.reason.reason));
});
app.get("/open-connections", (_, response) => response.end(String(openConnections)));

const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});

// Longer than any scenario: a request must not meet a connection that is being closed for having
// been idle.
server.keepAliveTimeout = 300_000;

// As docs/how-to/production.md asks. A refresh goes on when its user has left.
async function end() {
  const closed = new Promise((resolve) => server.close(resolve));
  await auth.close({ timeout: 60 });
  // Because of `keepAliveTimeout` above.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  await closed;
  clearInterval(idle);
  await close();
  process.exit(0);
}
process.once("SIGTERM", () => void end());
