import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createCertificate } from "../../scripts/certificate.mjs";
import { ensureProgram } from "../support/debian-package.js";
import { eventually } from "../support/eventually.js";
import { endingWithUs } from "../support/postgres-server.js";

// nginx and Caddy with the configurations of docs/how-to/single-page-applications.md, of which only
// ports, folders and certificates change.

const PAGE = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/how-to/single-page-applications.md"),
  "utf8",
);

/** The name in both configurations. */
export const HOSTNAME = "app.example.com";

export interface FrontServer {
  stop(): Promise<void>;
}

export interface FrontServerOptions {
  /** On which the front server speaks https. */
  readonly port: number;
  /** The front end that Vite has built. */
  readonly files: string;
  /** The API's `localhost:PORT`. */
  readonly api: string;
}

export interface FrontServerKind {
  readonly name: string;
  /** The program's path; undefined: its tests are skipped. */
  readonly program: string | undefined;
  start(options: FrontServerOptions): Promise<FrontServer>;
}

const nginx = await ensureProgram("nginx", "nginx");
const caddy = await ensureProgram("caddy", "caddy");

export const FRONT_SERVERS: readonly FrontServerKind[] = [
  {
    name: "nginx",
    program: nginx,
    async start({ port, files, api }) {
      const folder = temporaryFolder(files);
      const { cert, key } = createCertificate({ name: HOSTNAME });
      writeFileSync(path.join(folder, "cert.pem"), cert);
      writeFileSync(path.join(folder, "key.pem"), key);
      const server = configurationOf("nginx", {
        "listen 443 ssl": `listen 127.0.0.1:${String(port)} ssl`,
        "/etc/ssl/app.example.com.pem": path.join(folder, "cert.pem"),
        "/etc/ssl/app.example.com.key": path.join(folder, "key.pem"),
        "/srv/app/dist": path.join(folder, "files"),
        "localhost:3000": api,
      });
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((each) => `${each}_temp_path ${folder}/${each};`)
        .join(" ");
      const configuration = `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events {}
http { include /etc/nginx/mime.types; access_log off; ${temporary}
${server}}`;
      return started(
        nginx!,
        ["-e", "stderr", "-p", folder, "-c", writtenTo(folder, "nginx.conf", configuration)],
        { folder, port },
      );
    },
  },
  {
    name: "Caddy",
    program: caddy,
    async start({ port, files, api }) {
      const folder = temporaryFolder(files);
      const site = configurationOf("caddy", {
        "/srv/app/dist": path.join(folder, "files"),
        "localhost:3000": api,
      });
      // Caddy's own authority signs the certificate, since nobody else here can.
      const configuration = `{
  admin off
  local_certs
  skip_install_trust
  auto_https disable_redirects
  https_port ${String(port)}
  storage file_system ${folder}
}
${site}`;
      return started(
        caddy!,
        [
          "run",
          "--adapter",
          "caddyfile",
          "--config",
          writtenTo(folder, "Caddyfile", configuration),
        ],
        {
          folder,
          port,
        },
      );
    },
  },
];

/** The guide's only block in this language, with each of these texts replaced. */
function configurationOf(language: string, replaced: Readonly<Record<string, string>>): string {
  const [, text] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(PAGE) ?? [];
  if (text === undefined) throw new Error(`The guide has no configuration for ${language}.`);
  return Object.entries(replaced).reduce((left, [before, after]) => {
    if (!left.includes(before))
      throw new Error(`The guide's configuration for ${language} has no "${before}".`);
    return left.replace(before, after);
  }, text);
}

function temporaryFolder(files: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-front-"));
  cpSync(files, path.join(folder, "files"), { recursive: true });
  mkdirSync(path.join(folder, "logs"));
  return folder;
}

function writtenTo(folder: string, name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function started(
  program: string,
  args: readonly string[],
  where: { folder: string; port: number },
): Promise<FrontServer> {
  const { folder, port } = where;
  const [command = program, ...before] = await endingWithUs("KILL");
  const env = { PATH: process.env["PATH"], HOME: folder };
  const rest = command === program ? args : [...before, program, ...args];
  const child = spawn(command, rest, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-2_000)));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => connected(port));
  } catch (error) {
    await stop();
    throw new Error(`${path.basename(program)} did not start:\n${log}`, { cause: error });
  }
  return { stop };
}

function connected(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}
