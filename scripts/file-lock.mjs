// Locks work between processes of one machine with a file, so that only one of them builds or
// installs. It works on Windows, too.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds between two attempts to take the lock. */
const RETRY = 50;

/**
 * Runs the work while no other process holds the lock. A lock whose process has ended is taken
 * over.
 *
 * @template Result
 * @param {string} file the lock; it exists only while a process holds the lock
 * @param {() => Result | Promise<Result>} work
 * @param {{ seconds?: number }} [options] how long to wait for the lock; default 900
 * @returns {Promise<Result>}
 * @throws Error another process still holds the lock after that time
 */
export async function withFileLock(file, work, { seconds = 900 } = {}) {
  const deadline = Date.now() + seconds * 1000;
  // The random part names this holder for ever, since process ids are used again.
  const own = `${process.pid} ${randomUUID()}`;
  mkdirSync(path.dirname(file), { recursive: true });
  while (!create(file, own)) {
    const holder = read(file);
    if (holder !== undefined && !isRunning(Number.parseInt(holder))) takeOver(file, holder);
    else if (Date.now() >= deadline)
      throw new Error(
        `${file} is still locked after ${seconds} s. Delete the file if no process needs it.`,
      );
    else await delay(RETRY);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Removes the lock of a process that has ended. One waiting process may do this: the one that
 * creates the file named after the holder. Another one could remove a lock that a third process has
 * taken since.
 *
 * @param {string} file
 * @param {string} holder
 */
function takeOver(file, holder) {
  const claim = `${file}.${holder.replaceAll(/[^\w-]/g, "-")}`;
  if (!create(claim, "")) return;
  if (read(file) === holder) rmSync(file, { force: true });
  rmSync(claim, { force: true });
}

/**
 * @param {string} file
 * @param {string} content
 * @returns {boolean} false: the file exists
 */
function create(file, content) {
  try {
    writeFileSync(file, content, { flag: "wx" });
    return true;
  } catch (error) {
    // Windows says EPERM while another process is deleting the file.
    if (["EEXIST", "EPERM"].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? ""))
      return false;
    throw error;
  }
}

/**
 * @param {string} file
 * @returns {string | undefined} undefined: the file is gone, or its process has not written to it
 *   yet
 */
function read(file) {
  try {
    return readFileSync(file, "utf8") || undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
