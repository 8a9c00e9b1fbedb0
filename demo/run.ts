import { createServer } from "node:http";
import { createControls } from "./controls.js";
import type { Processes } from "./processes.js";
import { closable, endOnSignal, listen } from "./server.js";
import { startSurroundings, type Surroundings } from "./surroundings.js";

/** Without PORT, the demo takes the first free one of these. */
const PORTS = [3000, 3001, 3002, 3003, 3004, 3005];

/** Starts everything, prints the address, and runs until Ctrl+C. */
export async function runDemo(
  startProcesses: (surroundings: Surroundings) => Promise<Processes>,
): Promise<void> {
  // The port comes first, because the application has to know its own address.
  const server = createServer();
  const closeServer = closable(server);
  const origin = await listenOnFirst(portsOf(process.env["PORT"])).catch(tellAndExit);
  const surroundings = await startSurroundings(origin);
  const processes = await startProcesses(surroundings);
  const controls = createControls({ origin, surroundings, processes });

  server.on("request", (request, response) => {
    // The session's cookie belongs to one hostname, so `localhost` becomes the other spelling. A
    // hostname of somebody else, which resolves to this machine, can't use the controls.
    if (request.headers.host !== new URL(origin).host)
      response.writeHead(307, { Location: origin + (request.url ?? "/") }).end();
    else if (!controls(request, response)) processes.request(request, response);
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    processes.upgrade(request, socket, head);
  });
  endOnSignal(async () => {
    const closed = closeServer();
    await processes.close();
    server.closeAllConnections();
    await closed;
    await surroundings.close();
  });
  for (const { name, pid } of processes.kill === undefined ? [] : processes.states)
    console.log(`${name}: pid ${pid ?? 0}`);
  console.log(`Demo: ${origin}/`);
  console.log("Open this address, and try the cards from the top. Ctrl+C ends the demo.");

  async function listenOnFirst([port = 0, ...others]: readonly number[]): Promise<string> {
    try {
      return await listen(server, port);
    } catch (error) {
      if (others.length === 0) throw error;
      return listenOnFirst(others);
    }
  }
}

function portsOf(setting: string | undefined): readonly number[] {
  if (setting === undefined || setting === "") return PORTS;
  if (/^\d{1,5}$/.test(setting) && Number(setting) <= 65_535) return [Number(setting)];
  return tellAndExit(new Error(`PORT is "${setting}", which isn't a port`));
}

function tellAndExit(error: Error): never {
  console.error(`${error.message}. Set PORT to a free port, such as PORT=4000.`);
  process.exit(1);
}
