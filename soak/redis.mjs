// Starts a Redis server for the soak, in a temporary folder and on a free port.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "redis";

export async function startRedis() {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-soak-"));
  const port = await freePort();
  const server = spawn("redis-server", [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    folder,
  ]);
  server.on("error", () => {
    console.error(
      "The soak needs redis-server: apt-get install redis-server, or `npm test` once as root, which installs it.",
    );
    process.exit(2);
  });
  await new Promise((resolve, reject) => {
    server.once("exit", (code) => {
      reject(new Error(`redis-server ended with ${String(code)} before it accepted connections.`));
    });
    server.stdout.on("data", (chunk) => {
      if (String(chunk).includes("Ready to accept connections")) resolve();
    });
  });
  const url = `redis://127.0.0.1:${String(port)}`;
  return {
    url,
    pause: () => server.kill("SIGSTOP"),
    resume: () => server.kill("SIGCONT"),
    async dropConnections() {
      const client = createClient({ url });
      client.on("error", () => undefined);
      await client.connect();
      await client.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
      client.destroy();
    },
    async stop() {
      server.kill("SIGCONT");
      server.kill("SIGTERM");
      await once(server, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}
