// The processes of one instance of a peer's application.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

const READY_SECONDS = 60;
const END_SECONDS = 10;
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

process.once("exit", () => {
  for (const child of running) killGroup(child, "SIGKILL");
});

/**
 * Starts the programs one after another.
 *
 * @param {readonly import("./peer.mjs").Program[]} programs
 * @returns rejects with what a program printed if it ends, or doesn't listen in time
 */
export async function startInstance(programs) {
  /** @type {import("node:child_process").ChildProcess[]} */
  const children = [];
  const end = (/** @type {NodeJS.Signals} */ signal) =>
    Promise.all(children.toReversed().map((child) => endProcess(child, signal)));
  try {
    for (const program of programs) children.push(await startProcess(program));
  } catch (error) {
    await end("SIGKILL");
    throw error;
  }
  return {
    port: programs.at(-1).port,
    /** Bytes of all its processes in memory. */
    memory: () => children.reduce((sum, { pid }) => sum + memoryOf(pid), 0),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

/** @param {import("./peer.mjs").Program} program */
async function startProcess({ command, args, env = {}, cwd, port }) {
  const child = spawn(command, [...args], {
    cwd,
    // A group of its own: Apache has child processes.
    detached: true,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output = (output + text).slice(-4_000)));
  let failure;
  child.once("error", (error) => (failure = error.message));
  for (let tries = 0; !(await listens(port)); tries += 1) {
    if (child.exitCode !== null || child.signalCode !== null) failure ??= "ended";
    if (tries > READY_SECONDS * 20) failure ??= `doesn't listen after ${READY_SECONDS} s`;
    if (failure !== undefined) {
      killGroup(child, "SIGKILL");
      throw new Error(`${command} ${failure}:\n${output}`);
    }
    await wait(50);
  }
  return child;
}

/** @param {number} port */
function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** @param {import("node:child_process").ChildProcess} child @param {NodeJS.Signals} signal */
async function endProcess(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  killGroup(child, signal);
  const late = setTimeout(() => killGroup(child, "SIGKILL"), END_SECONDS * 1000);
  await ended;
  clearTimeout(late);
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
}

/** @param {number} pid @returns {number} bytes of the process and its child processes */
function memoryOf(pid) {
  let bytes = 0;
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      // "pid (name) state parent group …"; the children stay in the group.
      const [, , group] = readFileSync(`/proc/${entry}/stat`, "latin1")
        .replace(/^.*\) /, "")
        .split(" ");
      if (Number(group) !== pid) continue;
      const size = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${entry}/status`, "latin1"));
      bytes += Number(size?.[1] ?? 0) * 1024;
    } catch {
      // It has ended meanwhile.
    }
  }
  return bytes;
}
