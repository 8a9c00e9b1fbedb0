// Takes out of TypeDoc's pages what they repeat at each member, so that a page has a heading for each
// type and each member, one line for its signature, and text.

/** More codes than this in a type are the name `ErrorCode`, which has its own section. */
const MANY_CODES = 12;

/** A member that only adapters and the testing kit call, whose name is a symbol. */
const SYMBOL_MEMBER = /^##### \\\[[^\n]+\n[^]*?(?=^#{1,5} |^\*\*\*$|(?![^]))/gm;

/** Headings of the kinds of members. Each member's signature shows its kind. */
const KINDS =
  /^#{4,6} (?:Accessors|Call Signature|Constructors|Get Signature|Methods|Properties)\n\n/gm;

/** A table below a heading, with its rows. */
const PARAMETERS = /^#{4,6} Parameters\n\n((?:\|.*\n)+)\n?/gm;
const TYPE_PARAMETERS = /^#{4,6} Type Parameters\n\n((?:\|.*\n)+)\n?/gm;

/** The type that a function returns, and what follows it. Its signature has the type, too. */
const RETURNS = /^#{4,6} Returns\n\n.+\n(?:\n((?:(?!#|\*\*\*|>).+\n)+))?\n?/gm;
const THROWS = /^#{4,6} Throws\n\n((?:(?!#|\*\*\*|>).+\n?)+)/gm;

const EXTENDS = /^#{4,6} (Extends|Implements)\n\n((?:- .+\n)+)\n?/gm;
const EXTENDED_BY = /^#### Extended by\n\n(?:- .+\n)+\n?/gm;
const REFERENCES = /^## References\n\n(?:### .+\n\nRe-exports .+\n\n?(?:\*\*\*\n\n?)?)+/gm;

/**
 * @param {string} markdown
 * @param {string} page its name, such as `express`
 * @returns {string}
 */
export function shorter(markdown, page) {
  const codes = page === "errors" ? "#errorcode" : "errors.md#errorcode";
  const isForAdapters = page === "adapter-component";
  return (
    (isForAdapters ? markdown : markdown.replace(SYMBOL_MEMBER, ""))
      .replace(/^#{4,6} (?:Inherited from|Overrides|Implementation of)\n\n.+\n\n?/gm, "")
      // The question mark after the name says so too, and everything is read-only.
      .replace(/`(?:optional|readonly)` (?!`?\[)/g, "")
      .replace(/\bEnvironment(\s)variable:/g, "Variable:")
      .replace(EXTENDS, (_, word, /** @type {string} */ list) => {
        const types = listed(list);
        return types === "" ? "" : `${word} ${types}.\n\n`;
      })
      .replace(EXTENDED_BY, "")
      .replace(REFERENCES, (text) => {
        const links = [...text.matchAll(/^Re-exports (.+)$/gm)].map(([, link]) => `- ${link}`);
        return `${links.join("\n")}\n\n`;
      })
      .replace(TYPE_PARAMETERS, (_, /** @type {string} */ table) => typeParameters(table))
      .replace(PARAMETERS, (_, /** @type {string} */ table) => parameters(table))
      .replace(RETURNS, (_, /** @type {string | undefined} */ text) =>
        text === undefined ? "" : `Returns: ${text}\n`,
      )
      .replace(THROWS, (_, /** @type {string} */ text) => `Throws: ${text}`)
      .replace(KINDS, "")
      .replace(/^#{4,6} (Example|Type Declaration|Union Members|Indexable)$/gm, "**$1**")
      .replace(/^\*\*\*\n\n/gm, "")
      .replace(/^##### (?!#)/gm, "#### ")
      .replace(/(?:`"[a-z_]+"`(?: \\\| )?)+/g, (union) =>
        union.split("|").length > MANY_CODES && union.includes('"provider_unavailable"')
          ? `[\`ErrorCode\`](${codes})`
          : union,
      )
      .replace(/\n{3,}/g, "\n\n")
  );
}

/**
 * @param {string} list of Markdown
 * @returns {string} the types in it that have a link, in one line. The others aren't exported
 */
function listed(list) {
  return [...list.matchAll(/^- (\[.+)$/gm)].map(([, item]) => item).join(", ");
}

/**
 * @param {string} table of Markdown
 * @returns {string[][]} the cells of its body
 */
function rowsOf(table) {
  return table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** @param {string} table */
function typeParameters(table) {
  const hasDefaults = table.startsWith("| Type Parameter | Default");
  const names = rowsOf(table).map(([name = "", second = ""]) => {
    const plain = name.replace(/<a id="[^"]*"><\/a> /, "");
    return hasDefaults && second !== "-" ? `${plain} = ${second}` : plain;
  });
  return `Type parameters: ${names.join(", ")}\n\n`;
}

/** @param {string} table */
function parameters(table) {
  const rows = rowsOf(table);
  const described = rows.some((cells) => (cells[2] ?? "-") !== "-");
  if (described) return `${table.replaceAll(/ - (?=\|)/g, "  ")}\n`;
  const list = rows.map(([name, type]) => `${name}: ${type}`);
  return `Parameters: ${list.join(", ")}\n\n`;
}
