// What must be true before a release.
import { missingAddresses } from "./project-links.mjs";

/**
 * @typedef {object} Situation
 * @property {import("./project-links.mjs").Project} project
 * @property {string} version of package.json
 * @property {{ version: string, peer: string | undefined }} conformance of idpauth-conformance, and
 *   the idpauth that it needs
 * @property {string} changelog the text of CHANGELOG.md
 * @property {readonly string[]} changes files with changes that are not committed
 * @property {boolean} isTaken whether another commit has the version's tag
 */

/**
 * @param {Situation} situation
 * @returns {string[]} one line for each reason not to release
 */
export function reasonsAgainst({ project, version, conformance, changelog, changes, isTaken }) {
  return [
    ...missingAddresses(project),
    ...([conformance.version, conformance.peer].some((each) => each !== version)
      ? [
          `packages/idpauth-conformance/package.json has the version ${conformance.version} and needs idpauth ${conformance.peer}. Set both to ${version}, and run \`npm install --package-lock-only\`.`,
        ]
      : []),
    ...(isTaken
      ? [`The tag v${version} belongs to another commit. Raise the version in package.json.`]
      : []),
    ...(notesOf(changelog, version) === ""
      ? [`CHANGELOG.md has no notes below the heading "## ${version}".`]
      : []),
    ...changes.map((file) => `Not committed: ${file}`),
  ];
}

/**
 * @param {string} changelog
 * @param {string} version
 * @returns {string} the notes of this version without their heading, or an empty text
 */
export function notesOf(changelog, version) {
  const section = changelog.split(/^## /m).find((text) => text.split(/[\s,]/)[0] === version) ?? "";
  return section.replace(/^.*/, "").trim();
}
