import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { missingAddresses } from "../../scripts/project-links.mjs";
import { output, readJson } from "../../scripts/run.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const { version } = readJson(path.join(ROOT, "package.json")) as { version: string };

it("`npm run release -- --check` lists what is missing", async () => {
  const { text, code } = await output(["scripts/release.mjs", "--check"]);
  const missing = missingAddresses(
    readJson(path.join(ROOT, "project.json")) as Parameters<typeof missingAddresses>[0],
  );
  const listed = text.split("\n").filter((line) => line.startsWith("project.json: "));
  expect(listed).toEqual(missing);
  expect(text).not.toContain("CHANGELOG.md has no notes");
  expect(code).toBe(text.includes("nothing\n") ? 0 : 1);
});

describe("`npm run release -- --rehearse`", () => {
  let said: string;
  let folder: string;
  const read = (file: string) => readFileSync(path.join(folder, file), "utf8");

  beforeAll(async () => {
    const { text, code } = await output(["scripts/release.mjs", "--rehearse"]);
    expect(code, text).toBe(0);
    said = text;
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-released-"));
    execFileSync("tar", [
      "-xzf",
      path.join(ROOT, `release/rehearsal/idpauth-${version}.tgz`),
      "-C",
      folder,
      "--strip-components=1",
    ]);
    return () => {
      rmSync(folder, { recursive: true, force: true });
    };
  }, 600_000);

  it("builds twice, checks the tarball, follows the quick start, and publishes nothing", () => {
    expect(said).toContain("Both builds give the same tarballs.");
    expect(said).toContain("All good!");
    expect(said).toContain("node16 (from CJS)");
    expect(said).toContain('200 {"hello":"Ada Lovelace","hasToken":true}');
    expect(said).toContain("Nothing is published.");
  });

  it("writes the package's links", () => {
    expect(JSON.parse(read("package.json"))).toMatchObject({
      homepage: "https://idpauth.example",
      repository: { type: "git", url: "git+https://git.example/idpauth/idpauth.git" },
      bugs: { url: "https://git.example/idpauth/idpauth/issues" },
    });
    expect(read("README.md")).toContain(
      "[Production](https://idpauth.example/how-to/production.html)",
    );
    expect(read("SECURITY.md")).toContain("(mailto:x@idpauth.example)");
    const notes = readFileSync(path.join(ROOT, "release/rehearsal/notes.md"), "utf8");
    expect(notes).toContain("(https://idpauth.example/how-to/signing-out.html)");
  });

  it("lists what an application gets with the package", () => {
    const { metadata, components } = readJson(
      path.join(ROOT, "release/rehearsal/sbom.cdx.json"),
    ) as {
      metadata: { component: { name: string; version: string } };
      components: { name: string }[];
    };
    expect(metadata.component).toMatchObject({ name: "idpauth", version });
    expect(components.map(({ name }) => name).sort()).toEqual(["jose", "oauth4webapi"]);
  });
});
