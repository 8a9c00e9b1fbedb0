// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Balancer } from "./balancer.mjs";

/**
 * How long a process goes on after the balancer has left it out, in milliseconds: it accepts the
 * connections that are already on their way.
 */
const DRAIN_MS = 300;

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();

/**
 * Starts a program that sees nothing of this process's environment but the path.
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run([program = "", ...args], env) {
  const child = spawn(program, args, {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  children.add(child);
  child.on("error", (error) => console.error(error.message));
  child.on("close", () => children.delete(child));
  return child;
}

/** Asks all programs to end, and waits until they have. */
export async function stopAll() {
  await Promise.all(
    [...children].map((child) => {
      child.kill("SIGTERM");
      return once(child, "close");
    }),
  );
}

/** A service or the gateway: its processes, and the load balancer in front of them. */
export class Part {
  #balancer = new Balancer();
  /** @type {{ port: number, child: import("node:child_process").ChildProcess }[]} */
  #running = [];

  /**
   * @param {string} name
   * @param {readonly string[]} command
   * @param {NodeJS.ProcessEnv} env what this part sees, and no other one
   * @param {{ processes?: number, port?: number }} [options] the balancer's port; default: any
   */
  constructor(name, command, env, { processes = 1, port = 0 } = {}) {
    this.name = name;
    this.command = command;
    this.env = env;
    this.processes = processes;
    this.port = port;
  }

  /** The balancer's address. */
  url = "";

  async start() {
    if (this.#running.length > 0) {
      console.log(`${this.name} is running.`);
      return;
    }
    this.url ||= await this.#balancer.listen(this.port);
    console.log(`Starting ${this.name} …`);
    this.#running = await Promise.all(
      Array.from({ length: this.processes }, () => this.#process()),
    );
    this.#balance();
    console.log(`${this.name} runs at ${this.url} (processes ${this.#pids()})`);
  }

  /** A rolling restart: one process after the other. */
  async deploy() {
    if (this.#running.length === 0) return this.start();
    for (const old of [...this.#running]) {
      const replacement = await this.#process();
      this.#running = this.#running.map((each) => (each === old ? replacement : each));
      this.#balance(); // new requests go to the new process
      console.log(`${this.name}: ${replacement.child.pid} takes over from ${old.child.pid}`);
      await setTimeout(DRAIN_MS);
      old.child.kill("SIGTERM"); // it ends when its requests have
      if (old.child.exitCode === null && old.child.signalCode === null)
        await once(old.child, "close");
    }
    console.log(`${this.name} is deployed (processes ${this.#pids()})`);
  }

  stop() {
    const stopping = this.#running.splice(0);
    this.#balance();
    for (const { child } of stopping) child.kill("SIGTERM");
    console.log(`${this.name} is stopped.`);
  }

  #balance() {
    this.#balancer.ports = this.#running.map(({ port }) => port);
  }

  #pids() {
    return this.#running.map(({ child }) => child.pid).join(", ");
  }

  async #process() {
    const port = await freePort();
    const child = run(this.command, { ...this.env, PORT: String(port) });
    while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      if (await accepts(port)) return { port, child };
      await setTimeout(50);
    }
    throw new Error(`${this.name} has ended.`);
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  return port;
}

/** @param {number} port @returns {Promise<boolean>} whether a server accepts connections */
function accepts(port) {
  const socket = connect(port, "127.0.0.1");
  return once(socket, "connect")
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
