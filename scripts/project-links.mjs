// Adds the project's addresses, which project.json contains, to the published package and to the
// site. The files of the repository name pages by their paths, so that they stay correct without an
// address.
import path from "node:path";
import { pageWithCommands, withCommands } from "./install-commands.mjs";
import { readJson, root } from "./run.mjs";

/**
 * @typedef {object} Project the content of project.json
 * @property {string} repository its page, such as `https://git.example/idpauth/idpauth`
 * @property {string} documentation where the site is
 * @property {string} contact an e-mail address, or a page
 */

/** What each address must look like. */
const FORMS = {
  repository: /^https:\/\/[^\s/]+\/\S*[^\s/]$/,
  documentation: /^https:\/\/\S*[^\s/]$/,
  contact: /^(?:https:\/\/\S+|[^\s@]+@[^\s@]+)$/,
};

/**
 * A page of the site, in a text. A path in another address doesn't count. Code adds the anchor to a
 * `#` without one.
 */
const PAGE =
  /(?<![\w/.:-])docs\/((?!contributing|evidence|tables)[\w-]+\/[\w-]+)\.md(?:#([\w-]*))?/g;

/** What holds until project.json has the addresses, and then the text that replaces it. */
const BEFORE_RELEASE = /<!-- without addresses -->\n\n(.*?)<!-- with addresses:(.*?)-->\n*/gs;

/** A table whose last column names tests of the repository: the column, in each row. */
const TEST_COLUMN = /^(\|.* )\| Tests? \|\n(?:\|.*\n?)+/gm;
const LAST_CELL = /\|(?:\\.|`[^`]*`|[^|`\\])*\|$/gm;

/** What a command prints, in a sample of a page. */
const PRINTED = /(?<=^ +)See docs\/reference\/errors\.md#[ew]\d{3}$/gm;

/** A link or an image, except to an address or within its page. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g;

/**
 * A code of a startup check, in lower case as an anchor, or of an error. Empty if the code follows
 * at run time.
 */
const CODE = /^(?:|[ew]\d{3}|[a-z]+(?:_[a-z]+)+)$/;

/** @returns {Project} */
export function readProject() {
  return /** @type {Project} */ (readJson(path.join(root, "project.json")));
}

/**
 * @param {Project} project
 * @returns {string[]} one line for each address that is missing, or that has the wrong form
 */
export function missingAddresses(project) {
  return Object.entries(FORMS).flatMap(([name, form]) => {
    const value = project[/** @type {keyof Project} */ (name)];
    if (value === "") return `project.json: "${name}" is empty`;
    const example =
      name === "contact"
        ? "an e-mail address, or an https: address"
        : "an https: address without a slash at its end";
    return form.test(value)
      ? []
      : `project.json: "${name}" is ${JSON.stringify(value)}, which isn't ${example}`;
  });
}

/**
 * @param {Project} project
 * @param {string} version
 * @returns {string | undefined} the name of the file that `npm run pack` writes, which pages install
 *   until the addresses are there; undefined afterwards, when they install from npm
 */
export function printedTarball(project, version) {
  return missingAddresses(project).length === 0 ? undefined : `idpauth-${version}.tgz`;
}

/**
 * @param {string} text of a page, with the commands in either form
 * @param {string} file the page's path in the repository, with slashes
 * @returns {string} in the form that works today
 */
export function printedPage(text, file) {
  const { version } = /** @type {{ version: string }} */ (
    readJson(path.join(root, "package.json"))
  );
  return pageWithCommands(text, file, printedTarball(readProject(), version));
}

/**
 * @param {Record<string, unknown>} manifest the package.json
 * @param {Project} project
 * @returns {Record<string, unknown>} with the addresses after the description
 */
export function manifestWithLinks(manifest, { repository, documentation }) {
  const { name, version, description, ...others } = manifest;
  return {
    name,
    version,
    description,
    homepage: documentation,
    repository: { type: "git", url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
    ...others,
  };
}

/**
 * Adds addresses to a page. Links between pages of docs/ stay as they are: they work in the package
 * and on the site. A link that leads nowhere without an address becomes text.
 *
 * @param {string} text
 * @param {string} file the page's path in the repository, with slashes
 * @param {Project} project
 * @param {string} version links to files of the repository lead to this version's tag
 * @param {(file: string) => boolean} [isBeside] whether the file that a link names is in the same
 *   package or site; the link to another leads to the site or to the repository
 * @returns {string}
 */
export function pageWithLinks(text, file, project, version, isBeside = () => true) {
  const files = repositoryFiles(project, version);
  let released = pageWithCommands(text, file, printedTarball(project, version))
    .replace(BEFORE_RELEASE, (_, /** @type {string} */ now, /** @type {string} */ then) => {
      const replacement = files === "" ? now.trim() : withReports(then.trim(), project);
      return replacement === "" ? "" : `${replacement}\n\n`;
    })
    .replace(PRINTED, (line) => messageWithLinks(line, project, version));
  if (files === "") released = withoutTests(released);
  // npm and the repository show README.md and SECURITY.md without the other pages.
  const isAlone = !file.startsWith("docs/") && project.documentation !== "";
  const linked = outsideCode(released, (prose) =>
    prose.replace(LINK, (link, image, words, to, anchor = "") => {
      const target = path.posix.join(path.posix.dirname(file), to);
      const isPage = target.startsWith("docs/");
      if (isBeside(target) && (isPage ? !isAlone : files === "")) return link;
      const address = isPage ? siteAddress(target, project) : "";
      const found = address || (files && `${files}/${target}`);
      if (found !== "") return `${image}[${words}](${found}${anchor})`;
      return image === "" ? words : `*Picture: ${words}*`;
    }),
  );
  if (files === "") return linked;
  return outsideCode(linked, (prose) => withRepositoryNamed(prose, files, project.repository));
}

/**
 * Leaves out the column of a table that names tests: without a repository, nobody can read them.
 *
 * @param {string} text
 * @returns {string}
 */
export function withoutTests(text) {
  return text.replace(TEST_COLUMN, (table) => table.replace(LAST_CELL, "|"));
}

/**
 * @param {Pick<Project, "repository">} project
 * @param {string} version
 * @returns {string} the address of a version's files, empty without a repository
 */
function repositoryFiles({ repository }, version) {
  return repository && `${repository}/blob/v${version}`;
}

/**
 * @param {string} text with `{form}` and `{contact}`
 * @param {Project} project
 */
function withReports(text, { repository, contact }) {
  const isPage = contact.startsWith("https:");
  const form = `["Report a vulnerability" form](${repository}/security/advisories/new)`;
  return text
    .replace("{form}", form)
    .replace(
      "{contact}",
      `[${contact.replace("https://", "")}](${isPage ? "" : "mailto:"}${contact})`,
    );
}

/**
 * @param {string} file a page or an image
 * @param {Pick<Project, "documentation">} project
 * @returns {string} empty: it isn't on the site, or there is no site
 */
function siteAddress(file, { documentation }) {
  const place = /^docs\/((?!(?:evidence|tables)\/)[\w-]+\/[\w-]+\.(?:md|png|svg))$/.exec(file)?.[1];
  if (documentation === "" || place === undefined) return "";
  return `${documentation}/${place.replace(/\.md$/, ".html")}`;
}

/**
 * Replaces the paths of pages by what a reader of the installed package can open: the site's
 * address, or without a site the page in `node_modules`. Commands get the form that works. For the
 * messages and the comments of the package.
 *
 * @param {string} text
 * @param {Project} project
 * @param {string} version
 * @returns {string}
 */
export function messageWithLinks(text, project, version) {
  const { documentation } = project;
  const message = withCommands(text, printedTarball(project, version));
  if (documentation === "") return message.replace(PAGE, "node_modules/idpauth/$&");
  return message.replace(
    PAGE,
    (_, /** @type {string} */ page, /** @type {string | undefined} */ anchor) => {
      if (page !== "reference/errors" || anchor === undefined || !CODE.test(anchor))
        return `${documentation}/${page}.html${anchor === undefined ? "" : `#${anchor}`}`;
      // The site redirects `/e/E016` to the code's section.
      return `${documentation}/e/${anchor.replace(/^[ew](?=\d)/, (letter) => letter.toUpperCase())}`;
    },
  );
}

/**
 * Links "the repository", and "the repository's folder `examples/`" to that folder.
 *
 * @param {string} prose
 * @param {string} files
 * @param {string} repository
 */
function withRepositoryNamed(prose, files, repository) {
  // Links and headings stay as they are: links can't be nested, and a heading's text is its anchor.
  return prose.replace(
    /(\[[^\]]*\]\([^)]*\)|^#.*$)|\b([Tt]he\s+repository)(?:('s\s+folder\s+)(`([\w./-]+)`))?/gm,
    (all, /** @type {string | undefined} */ kept, words, folderWords, code, folder) => {
      if (kept !== undefined) return all;
      if (folder === undefined) return `[${words}](${repository})`;
      return `[${words}${folderWords}${code}](${files}/${folder.replace(/\/$/, "")})`;
    },
  );
}

/**
 * Changes a page without its code. Names and paths in backticks are not taken out.
 *
 * @param {string} text
 * @param {(prose: string) => string} change
 */
function outsideCode(text, change) {
  /** @type {string[]} */
  const codes = [];
  const takeOut = (/** @type {string} */ code) =>
    /^`[\w./-]+`$/.test(code) ? code : `\0${codes.push(code) - 1}\0`;
  const prose = text.replace(/^( *)(```+)[^\n]*\n.*?^\1\2$|(`+)(?!`).+?\3(?!`)/gms, takeOut);
  return change(prose).replace(/\0(\d+)\0/g, (_, index) => codes[Number(index)] ?? "");
}
