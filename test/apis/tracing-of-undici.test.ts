// A tracer that instruments undici adds its trace headers to each request, beside those that are there.
import diagnostics from "node:diagnostics_channel";
import http from "node:http";
import { context, propagation, trace as tracing } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/node/node.js";
import { instrument } from "../../src/opentelemetry/instrument.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, listen, nodeApi, optionsFor, request } from "./parties.js";

const TRACERS = "00-11111111111111111111111111111111-2222222222222222-01";
const BROWSERS = "00-33333333333333333333333333333333-4444444444444444-01";

/** As the instrumentation of OpenTelemetry does. */
function trace(message: unknown) {
  const { request: created } = message as { request: { addHeader(name: string, value: string): void } }; // prettier-ignore
  created.addHeader("traceparent", TRACERS);
}

let tracers: NodeTracerProvider;
beforeEach(() => {
  tracers = new NodeTracerProvider();
  tracers.register();
});

afterEach(async () => {
  await tracers.shutdown();
  tracing.disable();
  context.disable();
  propagation.disable();
  diagnostics.unsubscribe("undici:request:create", trace);
  await closeAll();
});

async function application(isInstrumented: boolean) {
  const { api } = await nodeApi(({ rawHeaders }, response) => {
    const lines = rawHeaders.filter((_, at) => /^traceparent$/i.test(rawHeaders[at - 1] ?? ""));
    response.end(JSON.stringify(lines));
  });
  const auth = idpAuth(optionsFor(api.url.href));
  if (isInstrumented) instrument(auth);
  const app = http.createServer(
    auth.listener(
      auth.proxyApi("orders")(async (message, response) => {
        const body = message.url === "/stream" ? new Blob(["x"]).stream() : "x";
        const init = { method: "POST", body, duplex: "half" } as RequestInit;
        response.end(await (await auth.fetchApi(message, "orders", "x", init)).text());
      }),
    ),
  );
  const port = await listen(app);
  const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
  const headers = { cookie, traceparent: BROWSERS };
  return async (target: string) =>
    JSON.parse((await request(port, target, { headers })).body) as string[];
}

describe.each([
  ["without a tracer of its own", false],
  ["with `instrument`", true],
])("an application %s", (_which, isInstrumented) => {
  it.each(["/api/orders/a", "/text", "/stream"])(
    "sends the trace header of who traces undici alone: %s",
    async (target) => {
      const sent = await application(isInstrumented);
      diagnostics.subscribe("undici:request:create", trace);
      expect(await sent(target)).toEqual([TRACERS]);
    },
  );

  it("sends one otherwise, if there is any", async () => {
    const sent = await application(isInstrumented);
    const [first, ...others] = await sent("/api/orders/a");
    expect([first === BROWSERS, others]).toEqual([!isInstrumented, []]);
  });
});
