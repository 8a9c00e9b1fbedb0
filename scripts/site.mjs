// Builds the documentation's site from docs/ in site/dist, and serves it. The first run installs
// VitePress in site/.
//   npm run site
//   npm run site -- --build       only builds
//   npm run site -- --port=8080   default 4173, or the next free one
import path from "node:path";
import { needPackages } from "./framework-install.mjs";
import { packageProgram } from "./locked-packages.mjs";
import { missingAddresses, readProject } from "./project-links.mjs";
import { headline, node, readJson, root } from "./run.mjs";
import { copyPages, finishSite } from "./site-pages.mjs";
import { writeReference } from "./site-reference.mjs";
import { leaveOutTests, linkPages, printPages } from "./stage-package.mjs";

const site = path.join(root, "site");

headline("Site: installing VitePress, once");
await needPackages("site");
const vitepress = packageProgram(site, "vitepress");
headline("Site: the API reference, from the types");
const docs = path.join(root, "docs");
copyPages(docs, path.join(site, "pages"));
const project = readProject();
const { version } = /** @type {{ version: string }} */ (readJson(path.join(root, "package.json")));
if (missingAddresses(project).length === 0)
  linkPages(path.join(site, "pages"), "docs/", project, version);
else leaveOutTests(path.join(site, "pages"));
const undocumented = await writeReference(
  packageProgram(site, "typedoc"),
  path.join(site, "pages"),
);
// The docstrings print commands, too.
printPages(path.join(site, "pages"), "docs/");
console.log(`${undocumented} members have no docstring`);
headline("Site: building site/dist");
process.exitCode = node([vitepress, "build", site]);
if (process.exitCode === 0) {
  const { pages, codes } = finishSite(docs, path.join(site, "pages"), path.join(site, "dist"));
  console.log(`site/dist: ${pages} pages, ${codes} addresses of codes`);
  const port =
    process.argv.find((argument) => argument.startsWith("--port="))?.slice("--port=".length) ??
    "4173";
  if (!process.argv.includes("--build"))
    process.exitCode = node([vitepress, "preview", site, "--port", port]);
}
