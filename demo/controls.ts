import type { IncomingMessage, ServerResponse } from "node:http";
import { runRace, type RaceParts } from "./race.js";
import { EXPIRY_MS } from "./surroundings.js";

const OUTAGE_SECONDS = 5;

/**
 * Returns what serves the demo's own controls, which are no part of the application: outages, the
 * clock, and requests for the 200 dots. It returns false for every other request.
 */
export function createControls(
  parts: RaceParts,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { surroundings, processes } = parts;

  async function startOutage(of: string | null): Promise<unknown> {
    const milliseconds = OUTAGE_SECONDS * 1000;
    if (of === "store") {
      await processes.failStore(milliseconds);
    } else {
      // Without expired tokens, nobody would notice that the provider is away.
      await processes.advance(EXPIRY_MS);
      await Promise.all(surroundings.providers.map((provider) => provider.pause()));
      setTimeout(() => {
        for (const provider of surroundings.providers) void provider.resume();
      }, milliseconds);
    }
    return { seconds: OUTAGE_SECONDS };
  }

  async function control(request: IncomingMessage, response: ServerResponse) {
    const [pathname, query] = (request.url ?? "").split("?", 2);
    const parameters = new URLSearchParams(query);
    const sendJson = (body: unknown): void => {
      response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" });
      response.end(JSON.stringify(body));
    };
    // Browsers say so of the demo's own page, and of no other.
    const isOwn = request.method === "POST" && request.headers["sec-fetch-site"] === "same-origin";
    if (pathname === "/demo/state") {
      sendJson({ processes: processes.states });
    } else if (!isOwn) {
      response.writeHead(403).end();
    } else if (pathname === "/demo/race") {
      response.writeHead(200, { "Content-Type": "application/x-ndjson" });
      const isKilled = parameters.has("kill") && processes.kill !== undefined;
      const tell = (line: unknown): void => void response.write(`${JSON.stringify(line)}\n`);
      await runRace(parts, { cookie: request.headers.cookie ?? "", isKilled, tell });
      response.end();
    } else if (pathname === "/demo/outage") {
      sendJson(await startOutage(parameters.get("of")));
    } else if (pathname === "/demo/kill") {
      processes.kill?.(parameters.get("name") ?? "");
      sendJson({});
    } else {
      response.writeHead(404).end();
    }
  }

  return (request, response) => {
    if (!request.url?.startsWith("/demo/")) return false;
    control(request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
    return true;
  };
}
