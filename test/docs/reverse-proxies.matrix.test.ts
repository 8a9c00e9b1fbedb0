import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ensureProgram } from "../support/debian-package.js";
import { freePort } from "../support/free-port.js";

// The configurations of docs/deploy/proxies.md: nginx and Caddy accept them. Only ports and
// certificates differ.

const ROOT = path.resolve(import.meta.dirname, "../..");
const nginx = await ensureProgram("nginx", "nginx");
const caddy = await ensureProgram("caddy", "caddy");

const blocksOf = (page: string, language: string): string[] =>
  [
    ...readFileSync(path.join(ROOT, "docs/deploy", page), "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"),
    ),
  ].map(([, text = ""]) => text);

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-proxies-"));
  running.push(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Writes a complete configuration around a page's block. */
function nginxConfiguration(folder: string, block: string, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((each) => `${each}_temp_path ${folder}/${each};`)
    .join(" ");
  const servers = /^server /m.test(block) ? block : `server { listen 443 ssl;\n${block} }`;
  const plain = servers
    .replace("listen 443 ssl;", `listen 127.0.0.1:${String(port)};`)
    .replace(/^ *ssl_certificate.*$/gm, "");
  const file = path.join(folder, "nginx.conf");
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; ${temporary}
${plain}
}`,
  );
  return file;
}

describe.skipIf(nginx === undefined)("nginx accepts", () => {
  it("every configuration of proxies.md", async () => {
    const blocks = blocksOf("proxies.md", "nginx");
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const folder = temporaryFolder();
      const file = nginxConfiguration(folder, block, await freePort());
      execFileSync(nginx ?? "", ["-t", "-q", "-e", "stderr", "-p", folder, "-c", file]);
    }
  });
});

describe.skipIf(caddy === undefined)("Caddy accepts", () => {
  it("every configuration of proxies.md", () => {
    const blocks = blocksOf("proxies.md", "caddy");
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const file = path.join(temporaryFolder(), "Caddyfile");
      writeFileSync(file, block);
      execFileSync(caddy ?? "", ["adapt", "--config", file, "--adapter", "caddyfile"], {
        stdio: "pipe",
      });
    }
  });
});
