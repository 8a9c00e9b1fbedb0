// Writes the pages of the API reference from the types and their docstrings, one page for each
// entry of the package.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packageEntries, sourceOf } from "./entries.mjs";
import { output, root } from "./run.mjs";

/** Members of the published types without a docstring. The number only falls. */
export const UNDOCUMENTED = 0;

/**
 * @param {string} typedoc path of its program
 * @param {string} pages folder of the site's pages; `api/` in it is replaced
 * @returns {Promise<number>} how many members have no docstring
 */
export async function writeReference(typedoc, pages) {
  const { REQUEST_ACCESSORS } = await import("idpauth/adapter");
  // TypeDoc names a page after its module, so each entry is a module with the entry's name.
  const modules = path.join(root, "site/entries");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  const entries = packageEntries().filter(({ isProgram }) => !isProgram);
  for (const entry of entries) {
    const source = path
      .relative(modules, path.join(root, sourceOf(entry)))
      .replaceAll(path.sep, "/");
    writeFileSync(
      path.join(modules, `${pageOf(entry)}.ts`),
      `export * from "./${source.replace(/\.tsx?$/, ".js")}";\n`,
    );
  }
  const compilerOptions = {
    lib: ["ES2023", "ES2024.String", "DOM", "DOM.Iterable"],
    jsx: "react-jsx",
    types: ["node"],
  };
  writeJson(path.join(modules, "tsconfig.json"), {
    extends: "../../tsconfig.json",
    compilerOptions,
    files: entries.map((entry) => `${pageOf(entry)}.ts`),
    include: [],
    exclude: [],
  });
  writeJson(path.join(modules, "typedoc.json"), {
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: entries.map((entry) => `${pageOf(entry)}.ts`),
    tsconfig: "tsconfig.json",
    out: path.join(pages, "api"),
    router: "module",
    readme: "none",
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    expandObjects: true,
    parametersFormat: "table",
    // The type check of the project has a configuration for each kind of code.
    skipErrorChecking: true,
    packagesRequiringDocumentation: ["idpauth"],
    validation: { notExported: false, notDocumented: true },
    requiredToBeDocumented: [
      "Class",
      "Interface",
      "TypeAlias",
      "Function",
      "Variable",
      "Method",
      "Property",
      "Accessor",
    ],
    intentionallyNotDocumented: [
      // Documented, but `Omit` turns these methods into properties, and TypeDoc keeps the comment at
      // the signature of the type.
      ...["onSignIn", "onRefresh", "onSignOut", "clientData"].map(
        (name) => `next.NextIdpAuthOptions.${name}`,
      ),
      // Documented at `IdpAuth`, of whose type the accessors of Next.js are made.
      ...REQUEST_ACCESSORS.map((name) => `next.NextIdpAuth.${name}`),
      // Documented at `IdpAuthNames`.
      ...["express", "fastify", "fetch", "hono", "koa", "next", "node"].flatMap((name) => [
        `${name}.idpAuth.__type.api`,
        `${name}.idpAuth.__type.provider`,
      ]),
    ],
  });
  const { code, text } = await output([typedoc, "--options", path.join(modules, "typedoc.json")]);
  rmSync(modules, { recursive: true });
  if (code !== 0) throw new Error(`TypeDoc failed:\n${text}`);
  rmSync(path.join(pages, "api/README.md"), { force: true });
  for (const name of readdirSync(path.join(pages, "api"))) {
    const file = path.join(pages, "api", name);
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(
        /^# (.+)$/m,
        (_, entry) => `# ${entry === "index" ? "idpauth" : `idpauth/${entry}`}`,
      ),
    );
  }
  const missing = text
    .split("\n")
    .filter((line) => line.includes("does not have any documentation"));
  if (missing.length > UNDOCUMENTED)
    throw new Error(
      `${missing.length} members have no docstring, at most ${UNDOCUMENTED}:\n${missing.join("\n")}`,
    );
  return missing.length;
}

/**
 * @param {import("./entries.mjs").Entry} entry
 * @returns {string} its page, such as "express"; "index" for the package itself
 */
function pageOf({ name }) {
  return name === "idpauth" ? "index" : name.slice("idpauth/".length).replaceAll("/", "-");
}

/**
 * @param {string} file
 * @param {object} content
 */
function writeJson(file, content) {
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
