// What the site's search finds.
import { withAliases } from "./aliases.mjs";
import { withoutStopWords } from "./search.mjs";

/**
 * @param {string} html of a page
 * @param {string} page such as "how-to/sessions.md"
 * @returns {string} what is added to the index, with the headings that divide it
 */
export function searchableHtml(html, page) {
  // A member belongs to the section of its type. Signatures repeat the names of members.
  const divided = page.startsWith("api/")
    ? html.replace(/<(\/?)h[456]\b/g, "<$1p").replace(/<pre\b.*?<\/pre>/gs, "")
    : html;
  return withAliases(divided, page).replace(
    /<(h[1-6])\b.*?<\/\1>|>([^<]+)(?=<)/gs,
    (part, heading, /** @type {string | undefined} */ text) =>
      heading === undefined ? `>${withoutStopWords(text ?? "")}` : part,
  );
}
