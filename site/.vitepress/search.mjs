// The site's search: what a query finds, and in which order. Its index arrives in parts: first the
// headings of all pages, then the text of each section. scripts/site-search.mjs writes the parts,
// and theme/SearchBox.vue shows the results.

/**
 * @typedef {object} Heading
 * @property {string} anchor empty for the page itself
 * @property {string} title
 * @property {number} level
 * @property {string} words what people type for it, and its text doesn't contain
 */
/**
 * @typedef {object} SearchPage
 * @property {string} address such as `/how-to/csrf.html`
 * @property {string} part the name of the part that has its text
 * @property {readonly Heading[]} headings the first one is the page's title
 */
/**
 * The first part.
 *
 * @typedef {{ parts: readonly string[], pages: readonly SearchPage[] }} Headings
 */
/**
 * The text of a section: by the address of a page, the text below each of its headings.
 *
 * @typedef {Readonly<Record<string, readonly string[]>>} Texts
 */
/**
 * @typedef {object} Entry
 * @property {string} href
 * @property {readonly string[]} titles the page's title, and those of the headings down to this one
 * @property {string} words
 * @property {string} text empty until its part has arrived
 * @property {number} weight
 */
/**
 * @typedef {object} Result
 * @property {string} href
 * @property {readonly string[]} titles
 * @property {readonly Piece[]} excerpt
 */
/** @typedef {{ text: string, isMatch: boolean }} Piece */

/** Words that almost every section contains. */
const STOP_WORDS = new Set(
  (
    "a about after all also an and any are as at be because been before but by can do does doesn don " +
    "each every for from has have how i if in into is isn it its may more my no not of on one only or " +
    "other our own same should so such than that the their them then there these they this to use used " +
    "uses using was we what when where which while who why will with without you your"
  ).split(" "),
);

/**
 * How much a match counts, by the page's address. Guides come first; members of types have many
 * words, and few people look for them.
 *
 * @type {readonly (readonly [RegExp, number])[]}
 */
const WEIGHTS = [
  [/^\/(?:how-to|start|deploy)\//, 1.2],
  // Each of them has sections of the same names.
  [/^\/providers\//, 0.85],
  [/^\/about\/(?:changelog|rfc-10017|standards)/, 0.5],
  [/^\/api\//, 0.45],
];

/** How much more a match counts in the beginning of a page than in one of its sections. */
const START = 1.5;

/** How much a word counts in the heading, in `words`, in the headings above it, and in the text. */
const FIELDS = { title: 9, words: 9, above: 3, text: 1 };

/** Words of text in a section of usual length: in a longer one, each counts less. */
const USUAL_LENGTH = 90;

/** How much less a word counts that only begins like the one in the query, or has another letter. */
const BEGINS = 0.5;
const RESEMBLES = 0.35;

/** Results of one page. More of them would push the other pages out. */
const PER_PAGE = 3;

/** Letters of an excerpt, and those before its first match. */
const EXCERPT = 170;
const LEAD = 50;

/**
 * @param {Headings} headings
 * @returns an index that finds headings, and text once its parts are added
 */
export function createSearch({ pages }) {
  /** @type {Entry[]} */
  const entries = [];
  /** @type {Map<string, number>} address of a page -> its first entry */
  const firsts = new Map();
  /** @type {Map<string, Map<number, number>>} word -> how much it counts, by the entry's index */
  const postings = new Map();

  const count = (
    /** @type {number} */ index,
    /** @type {string} */ text,
    /** @type {number} */ by,
  ) => {
    for (const word of wordsOf(text, true)) {
      const found = postings.get(word) ?? new Map();
      postings.set(word, found);
      found.set(index, (found.get(index) ?? 0) + by);
    }
  };

  for (const { address, headings } of pages) {
    firsts.set(address, entries.length);
    /** @type {Heading[]} */
    let above = [];
    for (const heading of headings) {
      const { anchor, title, level, words } = heading;
      above = [...above.filter((one) => one.level < level), heading];
      const index = entries.length;
      const titles = above.map((one) => one.title);
      entries.push({
        href: anchor === "" ? address : `${address}#${anchor}`,
        titles,
        words,
        text: "",
        weight: weightOf(address) * (anchor === "" ? START : 1),
      });
      count(index, title, FIELDS.title);
      count(index, words, FIELDS.words);
      count(index, titles.slice(0, -1).join(" "), FIELDS.above);
    }
  }

  /**
   * The entries with a word like this one, and how much it counts there.
   *
   * @param {string} term
   * @returns {Map<number, number>}
   */
  function matchesOf(term) {
    /** @type {Map<number, number>} */
    const matches = new Map();
    const take = (/** @type {string} */ word, /** @type {number} */ factor) => {
      const found = postings.get(word) ?? new Map();
      const rarity = Math.log(1 + entries.length / (found.size + 0.5));
      for (const [index, value] of found) {
        const score = factor * rarity * (value / (value + 4));
        if (score > (matches.get(index) ?? 0)) matches.set(index, score);
      }
    };
    take(term, 1);
    if (term.length > 2)
      for (const word of postings.keys())
        if (word.length > term.length && word.startsWith(term)) take(word, BEGINS);
    if (matches.size === 0 && term.length > 4)
      for (const word of postings.keys()) if (resembles(term, word)) take(word, RESEMBLES);
    return matches;
  }

  return {
    /** @param {Texts} texts */
    add(texts) {
      for (const [address, parts] of Object.entries(texts)) {
        const first = firsts.get(address) ?? 0;
        for (const [at, text] of parts.entries()) {
          const entry = entries[first + at];
          if (entry === undefined || text === "") continue;
          entry.text = text;
          const length = text.length / 6;
          count(first + at, text, FIELDS.text / (0.5 + (0.5 * length) / USUAL_LENGTH));
        }
      }
    },

    /**
     * @param {string} query
     * @param {number} [limit]
     * @returns {Result[]} the best first
     */
    find(query, limit = 12) {
      const all = wordsOf(query, false);
      const terms = [...new Set(all.filter((word) => !STOP_WORDS.has(word)))];
      const wanted = terms.length === 0 ? all : terms;
      /** @type {Map<number, { score: number, terms: number }>} */
      const scores = new Map();
      for (const term of wanted) {
        for (const [index, score] of matchesOf(term)) {
          const sum = scores.get(index) ?? { score: 0, terms: 0 };
          scores.set(index, { score: sum.score + score, terms: sum.terms + 1 });
        }
      }
      const ranked = [...scores]
        .map(([index, sum]) => {
          const entry = /** @type {Entry} */ (entries[index]);
          // A section with all of the words comes before one with some of them.
          return { entry, score: sum.score * entry.weight * (sum.terms / wanted.length) ** 1.5 };
        })
        .toSorted((one, other) => other.score - one.score)
        .slice(0, 200)
        .map(({ entry, score }) => ({ entry, score: score * closeness(entry, all) }))
        .toSorted((one, other) => other.score - one.score);
      /** @type {Map<string, number>} */
      const perPage = new Map();
      /** @type {Result[]} */
      const results = [];
      for (const { entry } of ranked) {
        const [page = ""] = entry.href.split("#");
        const others = perPage.get(page) ?? 0;
        if (others >= PER_PAGE) continue;
        perPage.set(page, others + 1);
        results.push({
          href: entry.href,
          titles: entry.titles,
          excerpt: excerptOf(entry.text, wanted),
        });
        if (results.length === limit) break;
      }
      return results;
    },
  };
}

/** @param {string} address */
function weightOf(address) {
  return WEIGHTS.find(([pages]) => pages.test(address))?.[1] ?? 1;
}

/**
 * How much more an entry counts that has the words of the query one after the other.
 *
 * @param {Entry} entry
 * @param {readonly string[]} query its words
 */
function closeness({ titles, words, text }, query) {
  if (query.length < 2) return 1;
  const phrase = ` ${query.join(" ")} `;
  const has = (/** @type {string} */ field) =>
    ` ${wordsOf(field, false).join(" ")} `.includes(phrase);
  if (has(titles.at(-1) ?? "")) return 2;
  if (words.split(". ").some(has)) return 1.8;
  return has(text) ? 1.5 : 1;
}

/**
 * @param {string} text
 * @param {boolean} withParts also the parts of names such as `getSession` and `session_ttl`
 * @returns {string[]} the words of a text, without their endings
 */
export function wordsOf(text, withParts) {
  const words = text.normalize("NFKD").match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) => {
    const whole = stemOf(word.toLowerCase());
    if (!withParts || !/[a-z][A-Z]|[A-Za-z]_[A-Za-z]/.test(word)) return [whole];
    const parts = word.split(/_+|(?<=[a-z])(?=[A-Z])/).filter((part) => part.length > 2);
    return [whole, ...parts.map((part) => stemOf(part.toLowerCase()))];
  });
}

/**
 * A word without its English ending, so that `contribute` finds `contributing`.
 *
 * @param {string} word in lower case
 */
function stemOf(word) {
  if (word.length < 5 || STOP_WORDS.has(word)) return word;
  const stem = word
    .replace(/ies$/, "y")
    .replace(/(?<=.{3})(?:ing|ed|es|s|e)$/, "")
    .replace(/([bdgmnprst])\1$/, "$1");
  return stem.length < 3 ? word : stem;
}

/**
 * Whether two words differ in one letter, or have two letters in the other order.
 *
 * @param {string} one
 * @param {string} other
 */
function resembles(one, other) {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const rest = one.slice(at);
  const otherRest = other.slice(at);
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    (rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2))
  );
}

/**
 * The part of a text with most of the words, in pieces.
 *
 * @param {string} text
 * @param {readonly string[]} terms
 * @returns {Piece[]}
 */
export function excerptOf(text, terms) {
  if (text === "") return [];
  const places = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].filter(({ 0: word }) => {
    const stem = stemOf(word.normalize("NFKD").toLowerCase());
    return terms.some((term) => stem === term || (term.length > 2 && stem.startsWith(term)));
  });
  const near = (/** @type {number} */ from) =>
    places.filter(({ index }) => index >= from && index < from + EXCERPT - LEAD);
  const best = places.reduce(
    (start, { index }) =>
      new Set(near(index).map(([word]) => word.toLowerCase())).size >
      new Set(near(start).map(([word]) => word.toLowerCase())).size
        ? index
        : start,
    places[0]?.index ?? 0,
  );
  const begin = best <= LEAD ? 0 : text.indexOf(" ", best - LEAD) + 1;
  const end = text.length - begin <= EXCERPT ? text.length : text.lastIndexOf(" ", begin + EXCERPT);
  /** @type {Piece[]} */
  const pieces = [];
  let at = begin;
  for (const { 0: word, index } of places) {
    if (index < begin || index + word.length > end) continue;
    if (index > at) pieces.push({ text: text.slice(at, index), isMatch: false });
    pieces.push({ text: word, isMatch: true });
    at = index + word.length;
  }
  if (end > at) pieces.push({ text: text.slice(at, end), isMatch: false });
  if (begin > 0) pieces.unshift({ text: "… ", isMatch: false });
  if (end < text.length) pieces.push({ text: " …", isMatch: false });
  return pieces;
}
