import type { Server } from "node:http";
import { afterEach } from "vitest";
import { closeAll } from "./parties.js";

/** The servers of a file's tests, closed after each of them with all that parties.ts has opened. */
export function closedAfterEach(): Server[] {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    await closeAll();
  });
  return servers;
}
