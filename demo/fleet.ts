/**
 * The fleet: Redis, the embedded provider, three application processes and a load balancer, each a
 * process of its own, and this one, which starts them again when they end. Everything is stored in
 * a temporary folder, which is deleted at the end.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import {
  DemoConfigurationError,
  EMBEDDED_SCOPE,
  logoutDefaults,
  mountPath,
  readConfiguration,
} from "./configuration.js";
import { findProgram, needProgram } from "./debian-program.js";
import { balancerConfiguration, nobodyAnswers } from "./fleet-balancer.js";
import type {
  FleetNews,
  FleetProcess,
  ProviderReadyMessage,
  ReadyMessage,
} from "./fleet-messages.js";
import { loadDriver } from "./driver.js";
import { endOnSignal, isTaken, listen } from "./server.js";
import { loadSqlite } from "./state-file.js";
import { Supervised, type Role } from "./supervised.js";

/** Milliseconds between two attempts to find a server ready. */
const LOOK = 25;
/**
 * Seconds that an ID token is good for, unless said otherwise: short, so that the fleet refreshes
 * before one's eyes.
 */
const ID_TOKEN_SECONDS = "30";
const APPLICATIONS = ["app-1", "app-2", "app-3"] as const;

const PARTS: Readonly<Record<string, string>> = {
  redis: "keeps the sessions",
  provider: "signs people in",
  balancer: "HAProxy; gives the requests out",
};

async function start(): Promise<void> {
  const {
    port: wanted,
    providerPort: wantedOfProvider,
    idTokenSeconds,
    fleetRestartSeconds,
    // Its sessions are always in its own Redis.
  } = readConfiguration({
    DEMO_ID_TOKEN_SECONDS: ID_TOKEN_SECONDS,
    ...process.env,
    DEMO_SESSIONS: undefined,
  });
  await loadDriver("redis", () => import("redis"));
  await loadSqlite();
  const redisServer = needProgram("redis-server", "redis-server");
  const haproxy = needProgram("haproxy", "haproxy");

  const ports = await ReservedPorts.reserve([
    wanted,
    wantedOfProvider,
    0,
    ...APPLICATIONS.map(() => 0),
  ]);
  const [port = 0, providerPort = 0, redisPort = 0, ...applicationPorts] = ports.numbers;
  const address = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-fleet-"));
  const fleet: Supervised[] = [];
  const ending = new AbortController();
  const end = async () => {
    ending.abort();
    // Who asks goes before who answers.
    for (const member of fleet.toReversed()) await member.end();
    rmSync(folder, { recursive: true, force: true });
  };
  endOnSignal(async () => {
    console.log("Ending the fleet …");
    await end();
  });

  const tellEverybody = () => {
    const news: FleetNews = { processes: fleet.map(asSeen).sort(byName) };
    for (const { child } of fleet) if (child?.connected === true) child.send(news, () => {});
  };
  const join: Join = async (role) => {
    await ports.release(role.port);
    ending.signal.throwIfAborted();
    const member = new Supervised(role, {
      pause: fleetRestartSeconds,
      tell: (line) => console.log(line),
      changed: tellEverybody,
    });
    fleet.push(member);
    await member.start();
    console.log(
      `${`${role.name}:`.padEnd(10)}pid ${member.pid ?? "none"}, ${PARTS[role.name] ?? "answers requests"}`,
    );
  };

  try {
    const redisUrl = await joinRedis(join, redisServer, folder, redisPort);
    const provider = await joinProvider(join, folder, providerPort, [
      `${address}${mountPath(process.env)}login-callback`,
      String(idTokenSeconds),
    ]);
    const env = {
      ...process.env,
      // The three open each other's sessions with it.
      SECRET_KEY: process.env["SECRET_KEY"] ?? randomBytes(32).toString("base64url"),
      BASE_URL: address,
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_post",
      IDP_AUTH_LOGOUT_REDIRECT_URL: "/",
      SCOPE: process.env["SCOPE"] ?? EMBEDDED_SCOPE,
      ...logoutDefaults({ ...process.env, DEMO_SESSIONS: undefined }),
      // Browsers keep cookies by host, whatever the port: the demo beside the fleet has the
      // package's own name.
      IDP_COOKIE_NAME: process.env["IDP_COOKIE_NAME"] ?? "idpauth-fleet",
      IDP_DEBUG: "true",
      FLEET_REDIS: redisUrl,
    };
    const applications = APPLICATIONS.map((name, index) => ({
      name,
      port: applicationPorts[index] ?? 0,
    }));
    for (const application of applications) {
      const { name, port } = application;
      const own = { ...env, FLEET_NAME: name, PORT: String(port) };
      await join({
        name,
        port,
        start: () => forked("fleet-application.js", [], own),
        ready: saysReady,
      });
    }
    await joinBalancer(join, haproxy, folder, port, applications);
  } catch (error) {
    // A member that was ended while it started is no failure.
    if (ending.signal.aborted) return;
    await end();
    throw error;
  }
  console.log(`Fleet:    ${address}/`);
  console.log(
    "Open the address, sign in, and kill any process above with kill -9 and its pid. Ctrl+C ends them all.",
  );
}

type Join = (role: Role & { readonly port: number }) => Promise<void>;

/** @returns the address, with a password, since every user of the machine can reach the port */
async function joinRedis(
  join: Join,
  executable: string,
  folder: string,
  port: number,
): Promise<string> {
  const password = randomBytes(24).toString("hex");
  const file = path.join(folder, "redis.conf");
  const settings = {
    bind: "127.0.0.1",
    port,
    dir: JSON.stringify(folder),
    requirepass: password,
    // The operating system has every write before Redis responds: a killed Redis loses no session.
    appendonly: "yes",
    appendfsync: "everysec",
    save: '""',
    logfile: "redis.log",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  await join({
    name: "redis",
    port,
    start: () => run(executable, [file]),
    ready: (child) => answers(port, child),
  });
  return `redis://:${password}@127.0.0.1:${port}`;
}

async function joinProvider(
  join: Join,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<ProviderReadyMessage> {
  const file = path.join(folder, "provider.db");
  let said: ProviderReadyMessage | undefined;
  await join({
    name: "provider",
    // The same at each start: its address is in every session.
    port,
    start: () => forked("fleet-provider.js", [file, String(port), ...settings], process.env),
    async ready(child) {
      said = (await saysReady(child)) as ProviderReadyMessage;
    },
  });
  if (said === undefined) throw new Error("The provider said nothing.");
  return said;
}

async function joinBalancer(
  join: Join,
  executable: string,
  folder: string,
  port: number,
  applications: readonly { readonly name: string; readonly port: number }[],
): Promise<void> {
  const file = path.join(folder, "haproxy.cfg");
  const errorFile = path.join(folder, "503.http");
  writeFileSync(errorFile, nobodyAnswers());
  writeFileSync(file, balancerConfiguration({ port, applications, errorFile }));
  await join({
    name: "balancer",
    port,
    start: () => run(executable, ["-db", "-f", file]),
    ready: (child) => answers(port, child),
  });
}

/**
 * One of ours. It has a session of its own, so that Ctrl+C reaches this process alone, which then
 * ends the others in order.
 */
function forked(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const stdio = ["ignore", "pipe", "pipe", "ipc"] as const;
  return heard(
    fork(path.join(import.meta.dirname, file), args, { detached: true, stdio: [...stdio], env }),
    env["FLEET_NAME"] ?? "provider",
  );
}

/**
 * A server. It ends when this process does, however that ends: `setpriv` asks the system for that.
 */
function run(executable: string, args: readonly string[]): ChildProcess {
  const setpriv = findProgram("setpriv");
  const [command = "", ...rest] = [
    ...(setpriv === undefined ? [] : [setpriv, "--pdeathsig", "TERM", "--"]),
    executable,
    ...args,
  ];
  return heard(
    spawn(command, rest, { detached: true, stdio: ["ignore", "pipe", "pipe"] }),
    path.basename(executable),
  );
}

/** What a child says, on this console, with its name before each line. */
function heard(child: ChildProcess, name: string): ChildProcess {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      // Which process came and went is told already, in fewer words than HAProxy's.
      if (!/^\[(?:NOTICE|WARNING)\]/.test(line)) console.log(`[${name}] ${line}`);
    });
  }
  return child;
}

async function saysReady(child: ChildProcess): Promise<ReadyMessage> {
  const [message] = (await once(child, "message")) as [ReadyMessage];
  return message;
}

/**
 * Resolves when a server listens there. Never settles if the child has ended; another listener
 * reports that.
 */
async function answers(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await delay(LOOK);
    } finally {
      socket.destroy();
    }
  }
  return new Promise(() => {});
}

/**
 * Ports of this process, each until the member that it is for starts: nobody else is given it
 * meanwhile, neither another member nor another fleet.
 */
class ReservedPorts {
  readonly numbers: readonly number[];
  readonly #servers: ReadonlyMap<number, Server>;

  private constructor(servers: ReadonlyMap<number, Server>) {
    this.numbers = [...servers.keys()];
    this.#servers = servers;
  }

  /**
   * @param wanted 0: any
   * @returns in the same order; all differ
   */
  static async reserve(wanted: readonly number[]): Promise<ReservedPorts> {
    const servers = new Map<number, Server>();
    // In turn: those that are asked for come first, before the system could give them out.
    for (const number of wanted) {
      const server = createServer();
      servers.set(Number(new URL(await listen(server, number)).port), server);
    }
    return new ReservedPorts(servers);
  }

  async release(port: number): Promise<void> {
    const server = this.#servers.get(port);
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }
}

function asSeen({ name, pid, isRunning }: Supervised): FleetProcess {
  return { name, part: PARTS[name] ?? "answers requests", pid: pid ?? 0, isRunning };
}

/** The applications first. */
function byName(one: FleetProcess, other: FleetProcess): number {
  return one.name.localeCompare(other.name);
}

start().catch((error: unknown) => {
  const isExplained = error instanceof DemoConfigurationError;
  console.error(
    isExplained
      ? error.message
      : isTaken(error)
        ? `The port cannot be used: ${error.message}. ${remedyFor(error)}`
        : error,
  );
  process.exit(1);
});

function remedyFor(taken: Error): string {
  const isOfProvider =
    "port" in taken && String(taken.port) === process.env["DEMO_PROVIDER_PORT"]?.trim();
  return `Set ${isOfProvider ? "DEMO_PROVIDER_PORT" : "PORT"} to another one.`;
}
