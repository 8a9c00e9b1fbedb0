// One process with a single-page application: pages with idpauth/client, which a browser opens.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { idpAuth } from "idpauth/node";
import { childOptions, serveCalls } from "./children.mjs";

const { provider, sub, events } = childOptions();
const CLIENT = readFileSync(new URL("../dist/client/browser.js", import.meta.url), "utf8");
const PAGE =
  '<!doctype html><title>Application</title><script type="module" src="/page.js"></script>';
const SCRIPT = `import { createClient } from "/client.js";
self.auth = createClient({ events: location.search === "?events" });
auth.subscribe(({ status }) => { if (status === "signed-out") self.signedOutAt = Date.now(); });`;

const auth = idpAuth({
  env: {},
  secretKey: "a secret key of at least 32 bytes",
  ...provider,
  log: () => {},
  ...(events && { events }),
});
const files = new Map([
  ["/client.js", ["text/javascript", CLIENT]],
  ["/page.js", ["text/javascript", SCRIPT]],
]);
const server = createServer(
  auth.listener((request, response) => {
    const [type, body] = files.get(request.url) ?? ["text/html", PAGE];
    response.setHeader("Content-Type", type);
    response.end(body);
  }),
);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

serveCalls({
  origin: () => `http://127.0.0.1:${server.address().port}`,
  /** Ends all sessions of the user. @returns when it began, in milliseconds since the epoch */
  async end() {
    const at = Date.now();
    await auth.endAllSessions({ iss: provider.issuer, sub });
    return at;
  },
});
