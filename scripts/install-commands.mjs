// The commands that install and run the package, as pages and messages print them. Until the package
// is on npm, its name there is free: whoever takes it would run code in our readers' shells. So a
// page then installs the tarball that `npm run pack` writes, and `npx --no` runs nothing that isn't
// installed.
import path from "node:path";

/** The sentence about the tarball, which `npm run docs` writes below this comment. */
const TARBALL = /^<!-- tarball -->\n\n(?:idpauth \[isn't on npm yet\](?:.+\n)+\n)?/gm;

const INSTALL = /\bnpm install (?:idpauth|\.\/idpauth-\S+?\.tgz)(?=[\s`]|$)/gm;
const INSTALL_SUITES =
  /\bnpm install --save-dev (?:idpauth-conformance|\.\/idpauth-\S+?\.tgz \.\/idpauth-conformance-\S+?\.tgz)(?=[\s`]|$)/gm;
const RUN = /\bnpx (?:--no )?idpauth(?=[\s`<.]|$)/gm;

/** What an image needs before `npm ci`. */
const COPY = /^(COPY package\.json package-lock\.json)(?: idpauth-\S+\.tgz)? \.\/$/gm;

/** What an example needs. Its package.json names the version that it takes from npm. */
const INSTALL_EXAMPLE = /^npm install(?: --no-save \S+\.tgz)?$/gm;

const EXPLANATION = "docs/about/project.md#before-the-first-release";

/**
 * @param {string} text of a page, in either form
 * @param {string} file the page's path in the repository, with slashes
 * @param {string | undefined} tarball the name of the file that `npm run pack` writes; undefined if
 *   the package is on npm
 * @returns {string} in the form that works
 */
export function pageWithCommands(text, file, tarball) {
  const isExample = file.startsWith("examples/");
  const page = withCommands(text, tarball)
    .replace(TARBALL, (comment) => {
      const marker = `${comment.split("\n", 1)[0] ?? ""}\n\n`;
      return tarball === undefined ? marker : `${marker}${aboutTarball(file, tarball)}\n\n`;
    })
    .replace(COPY, (_, copy) => `${copy}${tarball === undefined ? "" : ` ${tarball}`} ./`);
  if (!isExample) return page;
  const packed = tarball === undefined ? "" : ` --no-save ../../release/${tarball}`;
  return page.replace(INSTALL_EXAMPLE, `npm install${packed}`);
}

/**
 * @param {string} text such as a message of the package, in either form
 * @param {string | undefined} tarball as for `pageWithCommands`
 * @returns {string}
 */
export function withCommands(text, tarball) {
  return text
    .replace(INSTALL, `npm install ${tarball === undefined ? "idpauth" : `./${tarball}`}`)
    .replace(
      INSTALL_SUITES,
      // Both: npm would take the peer dependency that is missing from its registry.
      `npm install --save-dev ${tarball === undefined ? "idpauth-conformance" : `./${tarball} ./${tarball.replace("idpauth", "idpauth-conformance")}`}`,
    )
    .replace(RUN, `npx ${tarball === undefined ? "" : "--no "}idpauth`);
}

/**
 * @param {string} file
 * @param {string} tarball
 */
function aboutTarball(file, tarball) {
  const explanation = path.posix.relative(path.posix.dirname(file), EXPLANATION);
  const notYet = `idpauth [isn't on npm yet](${explanation})`;
  if (file.startsWith("examples/"))
    return `${notYet}: first run \`npm ci && npm run pack\` in the repository's root folder.`;
  return `${notYet}, and its repository isn't public. If you've been given a copy, run\n\`npm ci && npm run pack\` in it, then copy \`release/${tarball}\` into your app's folder.`;
}
