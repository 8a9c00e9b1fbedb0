// The API that the applications call with the user's access token. It knows from the provider
// whether a token still counts.
import { createServer } from "node:http";

/** @param {import("idpauth/testing").TestProvider} provider */
export async function startApi(provider) {
  /** The next request waits for it. @type {{ arrived: () => void, released: Promise<void> } | undefined} */
  let held;
  const server = createServer(async (request, response) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const isGood = token !== undefined && provider.isActive(token);
    const mine = held;
    held = undefined;
    mine?.arrived();
    await mine?.released;
    response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isGood ? { orders: [] } : { error: "invalid_token" }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/orders`,
    /** Holds the response to the next request. */
    hold() {
      let release, arrived;
      const released = new Promise((resolve) => (release = resolve));
      const hasArrived = new Promise((resolve) => (arrived = resolve));
      held = { arrived, released };
      return { arrived: hasArrived, release };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
