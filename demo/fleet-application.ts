/**
 * One application process of the fleet: the demo, with a front page that shows which process
 * responded.
 */
import { createServer } from "node:http";
import { ConfigurationError, isOutage } from "idpauth";
import { fileAnswer, pageAnswer } from "./answers.js";
import { DEFAULT_ACCESS, DemoConfigurationError, mountPath } from "./configuration.js";
import { expressDemo, send } from "./express-application.js";
import type { FleetNews, FleetProcess, ReadyMessage } from "./fleet-messages.js";
import { fleetPage, type FleetVisitor } from "./fleet-page.js";
import { FLEET_SCRIPT } from "./fleet-script.js";
import { closable, endOnSignal, isTaken, listen } from "./server.js";
import { openSessions } from "./sessions.js";
import { routeUpgrades } from "./web-socket.js";

async function start(): Promise<void> {
  const { env } = process;
  const name = env["FLEET_NAME"] ?? "";
  let processes: readonly FleetProcess[] = [];
  process.on("message", (news: FleetNews) => {
    processes = news.processes;
  });

  const sessions = await openSessions(
    { kind: "redis", url: new URL(env["FLEET_REDIS"] ?? "") },
    undefined,
  );
  const setup = {
    configuration: { ...DEFAULT_ACCESS, sessions: { kind: "memory" } as const },
    env,
    store: sessions.store,
  };
  const application = expressDemo(setup, (routes, auth) => {
    // Shows whether this process responds, not whether its store does: all processes share the
    // store.
    routes.get("/health", (_request, response) => {
      send(response, fileAnswer("text/plain; charset=utf-8", "ok", "no-store"));
    });

    routes.get("/fleet.js", (_request, response) => {
      send(response, fileAnswer("text/javascript; charset=utf-8", FLEET_SCRIPT, "no-cache"));
    });

    routes.get("/enter", auth.idpRequired, (_request, response) => {
      response.redirect("/");
    });

    routes.get("/", async (request, response) => {
      let visitor: FleetVisitor;
      try {
        visitor = { user: (await auth.getSession(request))?.user ?? null };
      } catch (error) {
        if (!isOutage(error)) throw error;
        visitor = { outage: error.code };
        response.set("Retry-After", "1");
      }
      const page = fleetPage({
        answering: { name, pid: process.pid },
        visitor,
        processes,
        mountPath: mountPath(env),
      });
      const picture = "user" in visitor ? visitor.user?.picture : undefined;
      send(response, pageAnswer("outage" in visitor ? 503 : 200, page, { picture, script: true }));
    });
  });

  const server = createServer((request, response) => void application.listener(request, response));
  routeUpgrades(server, Promise.resolve(application));
  const closeServer = closable(server);
  await listen(server, Number(env["PORT"]));
  endOnSignal(async () => {
    const closed = closeServer();
    await application.close();
    await closed;
    await sessions.close();
  });
  // This process ends when its supervisor is killed.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.send?.({ ready: true } satisfies ReadyMessage);
}

start().catch((error: unknown) => {
  const isExplained =
    error instanceof ConfigurationError || error instanceof DemoConfigurationError;
  console.error(isExplained || isTaken(error) ? error.message : error);
  process.exit(1);
});
