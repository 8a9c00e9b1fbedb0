// Writes the pages of the API reference from the types and their docstrings: one page for each entry
// of the packages, or for each group of its names.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { exportedNames, misplacedNames } from "./exported-names.mjs";
import { GROUPS } from "../site/reference/groups.mjs";
import { shorter } from "../site/reference/shorter.mjs";
import { output, root } from "./run.mjs";

/** Members of the published types without a docstring. The number only falls. */
export const UNDOCUMENTED = 0;

/**
 * The functions of `auth` have a page in docs/, so that the package has it too. It gets the types of
 * their parameters and results; `type` is the one with the functions themselves.
 */
const FUNCTIONS = {
  page: "functions",
  type: "AdapterAuth",
  into: "reference/accessors",
  section: "the-accessors",
};

/**
 * @typedef {object} ReferencePage
 * @property {string} entry such as `idpauth/express`
 * @property {string} page its file in `api/`, without `.md`
 * @property {string} title
 * @property {string} source what its module exports
 * @property {readonly string[]} names
 */

/**
 * @param {string} typedoc path of its program
 * @param {string} pages folder of the site's pages; `api/` in it is replaced
 * @returns {Promise<number>} how many members have no docstring
 */
export async function writeReference(typedoc, pages) {
  const { REQUEST_ACCESSORS } = await import("idpauth/adapter");
  // TypeDoc names a page after its module, so each page is a module.
  const modules = path.join(root, "site/entries");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  const reference = referencePages(modules);
  for (const { page, source } of reference) writeFileSync(path.join(modules, `${page}.ts`), source);
  const compilerOptions = {
    lib: ["ES2023", "ES2024.String", "DOM", "DOM.Iterable"],
    jsx: "react-jsx",
    types: ["node"],
  };
  writeJson(path.join(modules, "tsconfig.json"), {
    extends: "../../tsconfig.json",
    compilerOptions,
    files: reference.map(({ page }) => `${page}.ts`),
    include: [],
    exclude: [],
  });
  writeJson(path.join(modules, "typedoc.json"), {
    plugin: ["typedoc-plugin-markdown", path.join(root, "site/reference/inherited.mjs")],
    entryPoints: reference.map(({ page }) => `${page}.ts`),
    tsconfig: "tsconfig.json",
    out: path.join(pages, "api"),
    router: "module",
    readme: "none",
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    expandObjects: true,
    parametersFormat: "table",
    // The type check of the project has a configuration for each kind of code.
    skipErrorChecking: true,
    packagesRequiringDocumentation: ["idpauth", "idpauth-conformance"],
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
  for (const one of reference) {
    const file = path.join(pages, "api", `${one.page}.md`);
    writeFileSync(file, titled(shorter(readFileSync(file, "utf8"), one.page), one));
  }
  repairAnchors(path.join(pages, "api"), reference);
  moveFunctions(pages, reference);
  writeFileSync(path.join(pages, "api/index.md"), indexPage(reference));
  writeJson(
    path.join(pages, "api/pages.json"),
    reference
      .filter(({ page }) => page !== FUNCTIONS.page)
      .map(({ entry, page, title }) => ({ entry, page, title })),
  );
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
 * @param {string} modules folder of the modules
 * @returns {ReferencePage[]}
 */
function referencePages(modules) {
  const wrong = misplacedNames();
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  return exportedNames().flatMap((entry) => {
    const source = path
      .relative(modules, entry.file)
      .replaceAll(path.sep, "/")
      .replace(/\.tsx?$/, ".js");
    const { names } = entry;
    const groups = GROUPS[entry.name];
    if (groups === undefined) {
      const page = entry.name.slice("idpauth/".length).replaceAll("/", "-");
      return [
        {
          entry: entry.name,
          page,
          title: entry.name,
          source: `export * from "./${source}";\n`,
          names,
        },
      ];
    }
    return groups.map((group) => ({
      entry: entry.name,
      page: group.page,
      title: group.title,
      source: `export { ${group.names.join(", ")} } from "./${source}";\n`,
      names: group.names,
    }));
  });
}

/**
 * Gives a page its title, and a list of what it has.
 *
 * @param {string} markdown
 * @param {ReferencePage} page
 */
function titled(markdown, { entry, title, names }) {
  const headings = new Set(
    [...markdown.replaceAll("\\_", "_").matchAll(/^### (\w+)/gm)].map(([, name]) => name),
  );
  // A hidden name has none.
  const links = names
    .filter((name) => headings.has(name))
    .map((name) => `[\`${name}\`](#${name.toLowerCase()})`);
  // Another entry has them.
  if (links.length === 0)
    return markdown.replace(/^# .+$/m, `# ${title}\n\nExports ${names.join(", ")}.`);
  return markdown.replace(/^# .+$/m, `# ${title}\n\nFrom \`${entry}\`: ${links.join(", ")}`);
}

/**
 * Moves the page of the functions into the one in docs/, and the links to it.
 *
 * @param {string} pages
 * @param {readonly ReferencePage[]} reference
 */
function moveFunctions(pages, reference) {
  const { page: from, type, into, section } = FUNCTIONS;
  const target = path.join(pages, `${into}.md`);
  const source = path.join(pages, "api", `${from}.md`);
  const text = readFileSync(source, "utf8");
  const [, functions = ""] = new RegExp(`^### ${type}\\n([^]*?)(?=^##)`, "m").exec(text) ?? [];
  const types = text
    .slice(text.indexOf("\n### "))
    .replace(new RegExp(`^### ${type}\\n[^]*?(?=^###? )`, "m"), "")
    .replace(/^## .+\n\n/gm, "")
    .replace(/\]\((?!#)(?=[\w-]+\.md)/g, "](../api/");
  const hub = readFileSync(target, "utf8");
  if (!hub.includes("\n## The accessors\n") || functions === "")
    throw new Error(`docs/${into}.md has no section "The accessors" for the type ${type}.`);
  writeFileSync(target, `${hub.trimEnd()}\n\n## Types\n${types}`);
  rmSync(source);
  const kept = new Set(types.match(/(?<=^### )\w+/gm)?.map((name) => name.toLowerCase()));
  const address = `../${into}.md`;
  for (const { page } of reference.filter((one) => one.page !== from)) {
    const file = path.join(pages, "api", `${page}.md`);
    const own = readFileSync(file, "utf8")
      // What every framework has is one link.
      .replace(
        new RegExp(`^Inherited: (?:\\[\\w+\\]\\(${from}\\.md#\\w+\\)(?:, |\\.))+`, "gm"),
        (list) =>
          `Inherited: the [functions of \`auth\`](${address}#${section})${list.endsWith(".") ? "." : ", "}`,
      )
      .replace(
        new RegExp(`\\]\\(${from}\\.md#([\\w-]+)\\)`, "g"),
        (_, /** @type {string} */ anchor) =>
          `](${address}#${kept.has(anchor.replace(/-\d+$/, "")) ? anchor : section})`,
      );
    writeFileSync(file, own);
  }
}

/**
 * TypeDoc counts a name that two pages export twice on a page that has one heading of it, so links
 * lead to `#name-1`. They lead to `#name` then.
 *
 * @param {string} folder
 * @param {readonly ReferencePage[]} reference
 */
function repairAnchors(folder, reference) {
  const texts = new Map(
    reference.map(({ page }) => [page, readFileSync(path.join(folder, `${page}.md`), "utf8")]),
  );
  /** @type {Map<string, Set<string>>} */
  const anchors = new Map();
  for (const [page, text] of texts) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    const all = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id));
    for (const [, heading = ""] of text.matchAll(/^#+ (.+)$/gm)) {
      const anchor = heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-");
      const count = counts.get(anchor) ?? 0;
      counts.set(anchor, count + 1);
      all.add(count === 0 ? anchor : `${anchor}-${count}`);
    }
    anchors.set(page, all);
  }
  for (const [page, text] of texts) {
    const repaired = text.replace(
      /\]\(([\w-]*)(\.md)?#([\w-]+)-\d+\)/g,
      (link, /** @type {string} */ to, /** @type {string | undefined} */ ending, anchor) => {
        const [whole = ""] = /(?<=#)[^)]+/.exec(link) ?? [];
        const target = anchors.get(to === "" ? page : to);
        return target === undefined || target.has(whole) || !target.has(anchor)
          ? link
          : `](${to}${ending ?? ""}#${anchor})`;
      },
    );
    if (repaired !== text) writeFileSync(path.join(folder, `${page}.md`), repaired);
  }
}

/**
 * @param {readonly ReferencePage[]} reference
 * @returns {string} the page that lists the others
 */
function indexPage(reference) {
  const entries = [...new Set(reference.map(({ entry }) => entry))];
  const parts = entries.map((entry) => {
    const rows = reference
      .filter((one) => one.entry === entry)
      .map(({ page, title, names }) => {
        const file = page === FUNCTIONS.page ? `../${FUNCTIONS.into}.md` : `${page}.md`;
        const links = names.map((name) => {
          const anchor = name === FUNCTIONS.type ? FUNCTIONS.section : name.toLowerCase();
          return `[\`${name}\`](${file}#${anchor})`;
        });
        return `| [${title}](${file}) | ${links.join(", ")} |`;
      });
    return `## ${entry}\n\n| Page | Names |\n|---|---|\n${rows.join("\n")}`;
  });
  return `# API\n\nWhat each entry of the packages exports, from its types and their docstrings.\n\n${parts.join("\n\n")}\n`;
}

/**
 * @param {string} file
 * @param {object} content
 */
function writeJson(file, content) {
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
