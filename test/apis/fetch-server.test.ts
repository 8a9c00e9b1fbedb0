// The proxy of a server of the Fetch standard on Node.js, of which only the `Request` is known, as
// in Next.js.
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, nodeApi, optionsFor, ORIGIN } from "./parties.js";

afterEach(closeAll);

type Listener = Parameters<typeof nodeApi>[0];

/** A browser's request through the proxy to this API. */
async function ask(listener: Listener, headers: Record<string, string> = {}): Promise<Response> {
  const { api } = await nodeApi(listener);
  const auth = idpAuth(optionsFor(api.url.href));
  auth.start();
  const exp = Math.floor(Date.now() / 1000) + 86_400;
  const cookie = await signedInAs(auth, { sub: "ada", exp });
  const app = auth.proxyApi("orders")(() => new Response(null, { status: 404 }));
  return app(
    new Request(`${ORIGIN}/api/orders/items`, {
      headers: { cookie, "sec-fetch-site": "same-origin", ...headers },
    }),
  );
}

it("requests no compression of the API, since Next.js drops the response's Content-Encoding", async () => {
  const response = await ask(
    ({ headers }, to) => {
      to.end(String(headers["accept-encoding"]));
    },
    { "accept-encoding": "gzip, br" },
  );
  expect(await response.text()).toBe("identity");
});

it.each([
  ["at once", 0],
  ["in parts", 30],
])(
  "decompresses what the API compresses although no request allows it, sent %s",
  async (_title, pause) => {
    const response = await ask((_request, to) => {
      const packed = gzipSync("readable");
      to.writeHead(200, { "Content-Type": "text/plain", "Content-Encoding": "gzip" });
      to.write(packed.subarray(0, 5));
      setTimeout(() => to.end(packed.subarray(5)), pause);
    });
    const { headers } = response;
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, null]);
    expect(await text(response.body!)).toBe("readable");
  },
);

it("begins a stream with an empty chunk, since Next.js sends the headers with the first one", async () => {
  const response = await ask((_request, to) => {
    to.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
  });
  const reader = response.body!.getReader();
  expect(await reader.read()).toEqual({ done: false, value: new Uint8Array() });
  await reader.cancel();
});
