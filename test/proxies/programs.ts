import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo, type Socket, type TcpNetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { createCertificate } from "../../scripts/certificate.mjs";
import { findProgram } from "../../scripts/debian-program.mjs";
import { ensureFound, ensureProgram } from "../support/debian-package.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { endingWithUs } from "../support/postgres-server.js";

// nginx, Caddy, Apache and HAProxy, with configurations from the documentation, of which only
// ports, addresses and certificates change.

export type ProxyName = "nginx" | "caddy" | "apache" | "haproxy";

/** The name in every configuration of the documentation. */
export const HOSTNAME = "app.example.com";
export const ORIGIN = `https://${HOSTNAME}`;

/** Where browsers of the tests come from: not the address of the proxies and their upstreams. */
export const BROWSER_ADDRESS = "127.0.0.2";

const APACHE_FOLDER = "/usr/lib/apache2/modules";

/** The programs' paths. Undefined: the tests of this proxy are skipped. */
export const PROGRAMS: Readonly<Record<ProxyName, string | undefined>> = {
  nginx: await ensureProgram("nginx", "nginx"),
  caddy: await ensureProgram("caddy", "caddy"),
  apache: await ensureFound(
    { name: "Apache with mod_security2", packages: "apache2 libapache2-mod-security2" },
    async () =>
      existsSync(`${APACHE_FOLDER}/mod_security2.so`) ? findProgram("apache2") : undefined,
  ),
  haproxy: await ensureProgram("haproxy", "haproxy"),
};

const ROOT = path.resolve(import.meta.dirname, "../..");
const CERTIFICATE = "/etc/ssl/app.example.com.pem";
const KEY = "/etc/ssl/app.example.com.key";
/** Of Apache, which can't open a stream that Node.js reads. */
const ERROR_LOG = "error.log";
/** Of nginx, in the configuration and in the folder. */
const ACCESS_LOG = { page: "/var/log/nginx/app.log", file: "access.log" };

/** The blocks of a page in `docs/` in one language, such as `nginx`. */
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(path.join(ROOT, "docs", page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, block = ""]) => block,
  );
}

/**
 * The blocks of docs/deploy/proxies.md: the complete one with its limit of logins, and with what
 * replaces a part of it.
 */
export function configurationsOf(name: ProxyName): Record<"complete" | "strips" | "keeps", string> {
  const blocks = blocksOf("deploy/proxies.md", name);
  // Apache's limit is a block of its own.
  const limit = name === "apache" ? (blocks.splice(1, 1)[0] ?? "") : "";
  if (blocks.length !== 3) throw new Error(`The page has other blocks for ${name}.`);
  const [first = "", strips = "", keeps = ""] = blocks;
  const complete = first.replace(/^ {2}ProxyPass /m, (line) => limit + line);
  const replaced = {
    nginx: /^ {2}location [^]*(?=^\}$)/m,
    caddy: /^ {2}reverse_proxy .*\n/m,
    apache: /^ {2}ProxyPass .*\n/m,
    haproxy: /^ {2}default_backend [^]*/m,
  }[name];
  const replacedBy = (block: string): string => {
    if (!replaced.test(complete)) throw new Error(`Nothing to replace for ${name}.`);
    return complete.replace(replaced, () => block);
  };
  return { complete, strips: replacedBy(strips), keeps: replacedBy(keeps) };
}

export interface ProxyOptions {
  /** A page's block, for {@link ORIGIN}. */
  readonly configuration: string;
  /** Ports on this machine instead of the configuration's, such as `localhost:3000`. */
  readonly upstreams: Readonly<Record<string, number>>;
  /** Further texts that are replaced, such as folders. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** On which it speaks https. Default: a free one. */
  readonly port?: number;
}

export interface RunningProxy {
  /** On which it speaks https, on 127.0.0.1. */
  readonly port: number;
  /** On which it speaks plain http, if the configuration does so. */
  readonly httpPort: number;
  /** PEM, signed by itself, for {@link HOSTNAME}. */
  readonly certificate: string;
  /**
   * For `new CookieBrowser(…)`: what it sends to {@link ORIGIN} goes over TLS to the proxy, from
   * {@link BROWSER_ADDRESS}.
   */
  readonly browser: {
    readonly origin: string;
    readonly proxied: Readonly<Record<string, number>>;
  };
  /** What the program has written last. */
  log(): string;
  /** Its access log, if the configuration names one (nginx). */
  accessLog(): string;
  /** Replaces a text in the configuration, and lets the program read it again (nginx). */
  reload(before: string, after: string): void;
  stop(): Promise<void>;
}

/** A configuration around the page's block, and how to run it. */
interface Prepared {
  readonly file: string;
  readonly text: string;
  readonly args: readonly string[];
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly httpPort: number;
}

type Prepare = (configuration: string, place: Place) => Prepared;

const isRoot = process.getuid?.() === 0;

const PREPARE: Readonly<Record<ProxyName, Prepare>> = {
  nginx(configuration, { folder, port, httpPort }) {
    const file = path.join(folder, "nginx.conf");
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((each) => `${each}_temp_path ${folder}/${each};`)
      .join(" ");
    const listening = configuration
      .replaceAll(ACCESS_LOG.page, path.join(folder, ACCESS_LOG.file))
      .replace(/\blisten 443\b/, `listen 127.0.0.1:${String(port)}`)
      .replace(/\blisten 80\b/, `listen 127.0.0.1:${String(httpPort)}`);
    const text = `${isRoot ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}
http { include /etc/nginx/mime.types; access_log off; ${temporary}
${listening}}
`;
    const args = ["-e", "stderr", "-p", folder, "-c", file];
    return { file, text, args };
  },

  caddy(configuration, { folder, port, httpPort }) {
    const file = path.join(folder, "Caddyfile");
    // Elsewhere, Caddy gets the certificate itself.
    const site = configuration.replace(
      `${HOSTNAME} {`,
      `${HOSTNAME} {\n  bind 127.0.0.1\n  tls ${CERTIFICATE} ${KEY}`,
    );
    const text = `{
  admin off
  https_port ${String(port)}
  http_port ${String(httpPort)}
  storage file_system ${folder}
}
${site}`;
    const args = ["--adapter", "caddyfile", "--config", file];
    return { file, text, args: ["run", ...args] };
  },

  apache(configuration, { folder, port, httpPort }) {
    const file = path.join(folder, "apache.conf");
    const limits = configuration.includes("SecRule ") ? ["unique_id", "security2"] : [];
    const modules = ["mpm_event", "authz_core", "socache_shmcb", ...APACHE_MODULES, ...limits]
      .map((name) => `LoadModule ${name}_module ${APACHE_FOLDER}/mod_${name}.so`)
      .join("\n");
    // Debian's own configuration of mod_security2 names a folder for its counts.
    const counts = path.join(folder, "counts");
    mkdirSync(counts);
    // Root starts a process of another user, whose name is below.
    chmodSync(folder, 0o711);
    chmodSync(counts, 0o777);
    const listening = configuration
      .replace("*:443>", `127.0.0.1:${String(port)}>`)
      .replace("*:80>", `127.0.0.1:${String(httpPort)}>`);
    const text = `${modules}
ServerName localhost
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/${ERROR_LOG}
${isRoot ? "User nobody\nGroup nogroup" : ""}
${limits.length > 0 ? `SecDataDir ${counts}` : ""}
Listen 127.0.0.1:${String(port)}
Listen 127.0.0.1:${String(httpPort)}
${listening}`;
    const args = ["-f", file];
    // One process, so that none is left.
    return { file, text, args: ["-X", ...args] };
  },

  haproxy(configuration, { folder, port, httpPort }) {
    const file = path.join(folder, "haproxy.cfg");
    const text = configuration
      .replace(/\bbind :443\b/, `bind 127.0.0.1:${String(port)}`)
      .replace(/\bbind :80\b/, `bind 127.0.0.1:${String(httpPort)}`);
    const args = ["-f", file];
    return { file, text, args: ["-db", ...args] };
  },
};

/** The modules that the page about proxies turns on. */
const APACHE_MODULES = ["alias", "proxy", "proxy_http", "http2", "ssl", "headers"];

/** Starts a program with a configuration, in a temporary folder. */
export async function startProxy(name: ProxyName, options: ProxyOptions): Promise<RunningProxy> {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-proxy-"));
  try {
    return await startedIn(folder, name, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startedIn(
  folder: string,
  name: ProxyName,
  { configuration, upstreams, replaced = {}, port }: ProxyOptions,
): Promise<RunningProxy> {
  const place = { folder, port: port ?? (await freePort()), httpPort: await freePort() };
  const { cert, key } = createCertificate({ name: HOSTNAME });
  const [certificateFile, keyFile] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  // HAProxy reads both from one file.
  writeFileSync(certificateFile, name === "haproxy" ? cert + key : cert);
  writeFileSync(keyFile, key);
  const { file, text, args } = PREPARE[name](configuration, place);
  const addresses = Object.entries(upstreams).map(([before, upstream]) => [
    before,
    `127.0.0.1:${String(upstream)}`,
  ]);
  writeFileSync(
    file,
    replacedIn(text, { ...Object.fromEntries(addresses), ...replaced }).replaceAll(
      new RegExp(`${CERTIFICATE}|${KEY}`, "g"),
      (named) => (named === KEY ? keyFile : certificateFile),
    ),
  );
  const program = await started(name, args, place);
  const tunnel = await startTunnel(place.port, cert);
  return {
    port: place.port,
    httpPort: place.httpPort,
    certificate: cert,
    browser: { origin: ORIGIN, proxied: { [ORIGIN]: tunnel.port } },
    log: program.log,
    accessLog: () => readFileSync(path.join(folder, ACCESS_LOG.file), "utf8"),
    reload(before, after) {
      writeFileSync(file, replacedIn(readFileSync(file, "utf8"), { [before]: after }));
      program.reload();
    },
    async stop() {
      tunnel.stop();
      await program.stop();
    },
  };
}

function replacedIn(text: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce((left, [before, after]) => {
    if (!left.includes(before)) throw new Error(`The configuration has no "${before}".`);
    return left.replaceAll(before, after);
  }, text);
}

async function started(
  name: ProxyName,
  args: readonly string[],
  { folder, port }: Place,
): Promise<{ log(): string; reload(): void; stop(): Promise<void> }> {
  const program = PROGRAMS[name] ?? "";
  // nginx's worker outlives a master that is killed.
  const ending = name === "nginx" ? "INT" : "KILL";
  const [command = "", ...rest] = [...(await endingWithUs(ending)), program, ...args];
  const env = { PATH: process.env["PATH"], HOME: folder };
  const child = spawn(command, rest, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let written = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written = (written + text).slice(-8_000);
  });
  const log = (): string => {
    const file = path.join(folder, ERROR_LOG);
    return written + (existsSync(file) ? readFileSync(file, "utf8") : "");
  };
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([
      eventually(() => secured(port)),
      ended.then(() => Promise.reject(new Error("It has ended."))),
    ]);
  } catch (error) {
    const message = `${path.basename(program)} did not start:\n${log()}`;
    await stop();
    throw new Error(message, { cause: error });
  }
  return { log, reload: () => void child.kill("SIGHUP"), stop };
}

/** Apache accepts connections before it has read its certificate. */
function secured(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, servername: HOSTNAME, rejectUnauthorized: false };
    const socket = connectTls(options, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject).once("close", () => reject(new Error("It has closed.")));
  });
}

/** A port whose bytes go on over TLS. */
async function startTunnel(
  port: number,
  ca: string,
): Promise<{ readonly port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const options: ConnectionOptions & TcpNetConnectOpts = {
      host: "127.0.0.1",
      port,
      ca,
      servername: HOSTNAME,
      localAddress: BROWSER_ADDRESS,
    };
    const secured = connectTls(options);
    for (const [one, other] of [
      [socket, secured],
      [secured, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
