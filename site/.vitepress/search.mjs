// How the site's search orders what it finds.

/** Words that almost every section contains. */
const STOP_WORDS = new Set(
  (
    "a about after all also an and any are as at be because been before but by can do does doesn don " +
    "each every for from has have how i if in into is isn it its may more my no not of on one only or " +
    "other our own same so such than that the their them then there these they this to use used uses " +
    "using was we what when where which while who why will with without you your"
  ).split(" "),
);

/**
 * How much a match counts, by the page's address. Guides come first; tables of results and members
 * of types have many words, and few people look for them.
 *
 * @type {readonly (readonly [RegExp, number])[]}
 */
const WEIGHTS = [
  [/^\/(?:how-to|start|deploy)\//, 1.25],
  // Each of them has sections of the same names.
  [/^\/providers\//, 0.8],
  [/^\/reference\/specification-names/, 0.5],
  [/^\/(?:evidence|contributing)\/|^\/explanation\/decisions/, 0.3],
  [/^\/about\/(?:changelog|rfc-10017|standards|csrf-cases)/, 0.5],
  [/^\/api\//, 0.4],
];

/** How much more a match counts in the beginning of a page than in one of its sections. */
const START = 2.5;

/**
 * The options of MiniSearch for a query. VitePress can't pass functions to a page with the site's
 * policy, so the theme adds them.
 */
export const SEARCH_OPTIONS = {
  boost: { title: 2, titles: 1, text: 1 },
  prefix: (/** @type {string} */ term) => term.length > 2,
  // One letter in a short word makes another word of it.
  fuzzy: (/** @type {string} */ term) => (term.length > 5 ? 0.2 : false),
  /** @returns {string | null} */
  processTerm: (/** @type {string} */ term) => {
    const word = term.toLowerCase();
    return STOP_WORDS.has(word) ? null : word;
  },
  boostDocument: (
    /** @type {string} */ id,
    /** @type {string} */ _term,
    /** @type {Record<string, unknown> | undefined} */ stored,
  ) => {
    const weight = WEIGHTS.find(([pages]) => pages.test(id))?.[1] ?? 1;
    // A page's own title rather than one of its sections.
    return Array.isArray(stored?.["titles"]) && stored["titles"].length === 0
      ? weight * START
      : weight;
  },
};

/**
 * @param {string} text
 * @returns {string} without the words that a query ignores
 */
export function withoutStopWords(text) {
  return text.replace(/[a-z]+/gi, (word) => (STOP_WORDS.has(word.toLowerCase()) ? "" : word));
}
