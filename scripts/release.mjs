// Prepares a release in release/: the tarballs of both packages with the project's addresses, built
// twice and checked the way a stranger would, the notes, the results of docs/evidence/, and the list
// of what it depends on. It publishes nothing: .github/workflows/release.yml publishes the tarballs
// when a tag is pushed.
//   npm run release                only if nothing is missing
//   npm run release -- --check     only says what is missing
//   npm run release -- --rehearse  with example addresses, in release/rehearsal/, whatever is missing
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CONFORMANCE } from "./entries.mjs";
import { pageWithLinks, readProject } from "./project-links.mjs";
import { notesOf, reasonsAgainst } from "./release-readiness.mjs";
import { buildTwice } from "./reproducible.mjs";
import { headline, node, npm, readJson, root } from "./run.mjs";

/** Addresses that cannot exist (RFC 2606). */
const EXAMPLE = {
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "x@idpauth.example",
};

const isRehearsal = process.argv.includes("--rehearse");
const written = readProject();
const manifest = /** @type {{ name: string, version: string }} */ (
  readJson(path.join(root, "package.json"))
);
const { version: suites, peerDependencies } =
  /** @type {{ version: string, peerDependencies: Record<string, string> }} */ (
    readJson(path.join(root, CONFORMANCE, "package.json"))
  );
const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
const { version } = manifest;

headline(`Release ${version}: what is missing`);
const conformance = { version: suites, peer: peerDependencies["idpauth"] };
const reasons = reasonsAgainst({
  project: written,
  version,
  conformance,
  changelog,
  ...gitState(),
});
for (const reason of reasons) console.error(reason);
if (reasons.length === 0) console.log("nothing");
if (process.argv.includes("--check") || (reasons.length > 0 && !isRehearsal))
  process.exitCode = reasons.length > 0 ? 1 : 0;
else await prepare(isRehearsal ? EXAMPLE : written);

/** @param {import("./project-links.mjs").Project} project */
async function prepare(project) {
  // The workflow publishes the tarball directly in release/.
  const folder = isRehearsal ? "release/rehearsal" : "release";
  const release = path.join(root, folder);
  const temporary = mkdtempSync(path.join(tmpdir(), "idpauth-release-"));
  try {
    headline("Build: twice, each in a clean folder");
    const built = await buildTwice(temporary, project);
    const tarballs = [built.idpauth, built.conformance].map(({ tarball }) => ({
      tarball,
      filename: path.basename(tarball),
      hash: hashOf(tarball),
    }));
    console.log("Both builds give the same tarballs. SHA-256:");
    for (const { filename, hash } of tarballs) console.log(`${hash}  ${filename}`);
    const unpacked = [built.idpauth.unpacked, built.conformance.unpacked];
    if (node(["scripts/check-package.mjs", ...unpacked]) !== 0)
      throw new Error("The check of the package failed.");

    rmSync(release, { recursive: true, force: true });
    mkdirSync(release, { recursive: true });
    for (const { tarball, filename, hash } of tarballs) {
      copyFileSync(tarball, path.join(release, filename));
      if (hashOf(path.join(release, filename)) !== hash)
        throw new Error(`${filename} is no longer the one that was built twice.`);
    }
    headline("Dependencies: npm sbom");
    writeFileSync(
      path.join(release, "sbom.cdx.json"),
      dependencies(temporary, built.idpauth.unpacked),
    );
    const notes = pageWithLinks(notesOf(changelog, version), "CHANGELOG.md", project, version);
    writeFileSync(path.join(release, "notes.md"), `${notes}\n`);
    cpSync(path.join(root, "docs/evidence"), path.join(release, "evidence"), { recursive: true });
    console.log(
      [
        ...tarballs.map(({ filename }) => `${folder}/${filename}`),
        `${folder}/sbom.cdx.json`,
        `${folder}/notes.md`,
        `${folder}/evidence/`,
        "",
        `Nothing is published. To publish, push the tag v${version}.`,
      ].join("\n"),
    );
    if (isRehearsal)
      console.log("This was a rehearsal with example addresses: don't publish these tarballs.");
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @param {string} file */
function hashOf(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/**
 * @param {string} temporary
 * @param {string} unpacked
 * @returns {string} CycloneDX, of what `npm install` brings to an application
 */
function dependencies(temporary, unpacked) {
  // npm takes the component's name from its folder.
  const folder = path.join(temporary, "sbom", manifest.name);
  mkdirSync(folder, { recursive: true });
  const {
    devDependencies: _dev,
    peerDependencies: _peer,
    peerDependenciesMeta: _meta,
    ...published
  } = /** @type {Record<string, unknown>} */ (readJson(path.join(unpacked, "package.json")));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(published));
  npm(
    [
      "install",
      "--package-lock-only",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--omit-lockfile-registry-resolved",
    ],
    {
      cwd: folder,
    },
  );
  return npm(["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library"], {
    cwd: folder,
  });
}

function gitState() {
  const git = (/** @type {readonly string[]} */ args) =>
    execFileSync("git", [...args], { cwd: root, encoding: "utf8" }).trim();
  const changes = git(["status", "--porcelain"]);
  const tagged = git([
    "for-each-ref",
    "--format=%(*objectname)%(objectname)",
    `refs/tags/v${version}`,
  ]);
  return {
    changes: changes === "" ? [] : changes.split("\n").map((line) => line.slice(2).trim()),
    isTaken: tagged !== "" && !tagged.includes(git(["rev-parse", "HEAD"])),
  };
}
