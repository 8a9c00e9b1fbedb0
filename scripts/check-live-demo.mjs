// Runs `idpauth check --live` of the build on one mistake after the other, with a provider of its
// own, and writes docs/evidence/check-live.md. Takes the build as it is:
// `npm run build && node scripts/check-live-demo.mjs`.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { onStage, settingsFor, SITUATIONS } from "./check-live-situations.mjs";
import { root } from "./run.mjs";

const PAGE = path.join(root, "docs/evidence/check-live.md");
const MARK = "<!-- What follows is written by `node scripts/check-live-demo.mjs`; do not edit. -->";
const cli = path.join(root, "dist/cli/idpauth.js");

const { startTestProvider } =
  /** @type {typeof import("../src/testing/provider/test-provider.js")} */ (
    await import(pathToFileURL(path.join(root, "build/testing/provider/test-provider.js")).href)
  );

/** @type {string[]} */
const sections = [];
for (const { title, what, codes, prepare } of SITUATIONS) {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-check-"));
  try {
    const text = await onStage(startTestProvider, folder, async (stage) => {
      const { env, store, inFolder = false, clock = 0 } = await prepare(stage);
      const right = settingsFor(stage.provider);
      const args = ["check", "--live", ...(store === undefined ? [] : [`--store=${store}`])];
      const { code, output } = await run(
        args,
        { ...right, ...env },
        inFolder ? folder : root,
        clock,
      );
      // Only the first run shows everything that is not seen; the others show what differs.
      const seen = sections[0];
      const shown =
        seen === undefined
          ? output
          : output.replace(/(?<=\nnot checked:\n).*$/s, (lines) => lessKnown(lines, seen));
      return section({ title, what, env, args, code, output: shown });
    });
    sections.push(text);
    const found = [...text.matchAll(/^ {2}([EW]\d{3}) /gm)].map(([, code]) => code);
    console.log(`${title}: ${found.length === 0 ? "nothing is found" : found.join(", ")}`);
    if (found.toSorted().join() !== codes.toSorted().join()) {
      console.error(`  expected: ${codes.join(", ") || "nothing"}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const [head = ""] = readFileSync(PAGE, "utf8").split(MARK);
writeFileSync(PAGE, `${head}${MARK}\n\n${sections.join("\n")}`);
console.log(`docs/evidence/check-live.md: ${sections.length} runs`);

/**
 * @param {string} lines
 * @param {string} known
 */
function lessKnown(lines, known) {
  const others = lines.split("\n").filter((line) => line !== "" && !known.includes(line));
  return [...others, "  …"].join("\n");
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string | undefined>} env
 * @param {string} cwd
 * @param {number} ahead milliseconds by which the process's clock is ahead
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(args, env, cwd, ahead) {
  const shifted = `data:text/javascript,const now = Date.now; Date.now = () => now() + (${ahead});`;
  const child = spawn(
    process.execPath,
    [...(ahead === 0 ? [] : ["--import", shifted]), cli, ...args],
    {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, output }));
  });
}

/**
 * @param {{ title: string, what: string, env: Record<string, string | undefined>, args: readonly string[], code: number | null, output: string }}
 *   shown
 * @returns {string}
 */
function section({ title, what, env, args, code, output }) {
  const changes = Object.entries(env).map(([name, value]) =>
    value === undefined ? `unset ${name}` : `export ${name}="${value}"`,
  );
  return `### ${title}

${what}

\`\`\`console
${[...changes, `npx idpauth ${args.join(" ")}`].map((line) => `$ ${plain(line)}`).join("\n")}
${plain(output).trimEnd()}
$ echo $?
${code}
\`\`\`
`;
}

/**
 * Without what is different each time.
 *
 * @param {string} text
 */
function plain(text) {
  return text
    .replace(/\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, (whole, host) =>
      whole === "localhost:3000" ? whole : `${host}:8080`,
    )
    .replace(/[\d.]+ ms for a read/g, "0.1 ms for a read")
    .replace(/about (?:299|301) (s\b|seconds)/g, "about 300 $1");
}
