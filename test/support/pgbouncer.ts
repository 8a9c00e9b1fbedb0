import { spawn } from "node:child_process";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ensureProgram } from "./debian-package.js";
import { freePort } from "./free-port.js";
import { endingWithUs, unprivilegedUser, type PostgresServer } from "./postgres-server.js";

export interface PgBouncer {
  /** For `pg`: as the server's own, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** PgBouncer's path; see `ensureProgram` for what happens when it is missing. */
export function ensurePgBouncer(): Promise<string | undefined> {
  return ensureProgram("pgbouncer", "pgbouncer");
}

/**
 * A transaction-mode pooler in front of a server: each transaction of each client gets whichever of
 * a few server connections is free.
 *
 * @param connections how many there are to the server
 */
export async function startPgBouncer(server: PostgresServer, connections = 3): Promise<PgBouncer> {
  const program = await ensurePgBouncer();
  if (program === undefined) throw new Error("PgBouncer is not installed");
  const user = await unprivilegedUser();
  const folder = await mkdtemp(path.join(tmpdir(), "idpauth-pgbouncer-"));
  const port = await freePort();
  const settings = path.join(folder, "pgbouncer.ini");
  await writeFile(
    settings,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
server_login_retry = 0.1
log_connections = 0
log_disconnections = 0
`,
  );
  if (user.uid !== undefined)
    for (const each of [folder, settings]) await chown(each, user.uid, user.gid ?? user.uid);
  const [command, ...args] = [...(await endingWithUs("KILL")), program, "-q", settings];
  const child = spawn(command, args, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log = (log + chunk).slice(-2000);
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const endWithUs = (): unknown => child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const stop = async (): Promise<void> => {
    process.off("exit", endWithUs);
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  while (!(await listens(port))) {
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`PgBouncer did not start:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
