// Tables that fit every screen: on a phone, each row is a card, and each cell has its column's name.
// Long codes in a cell break where a name has a separator. theme/tables.css draws them.

/** Where a code may continue on the next line. */
const BREAKS = /[_./:=,?&(){}|-]+(?=.)/g;

/** @param {import("markdown-it").default} markdown */
export function fittingTables(markdown) {
  markdown.core.ruler.push("fitting-tables", ({ tokens }) => {
    /** @type {string[]} */
    let labels = [];
    let column = 0;
    let isInTable = false;
    for (const [index, token] of tokens.entries()) {
      // A phone draws rows as blocks, which are a table to a screen reader only by their roles.
      if (token.type === "table_open") {
        isInTable = true;
        labels = [];
        token.attrSet("role", "table");
      } else if (token.type === "table_close") isInTable = false;
      else if (token.type === "thead_open" || token.type === "tbody_open")
        token.attrSet("role", "rowgroup");
      else if (token.type === "tr_open") {
        column = 0;
        token.attrSet("role", "row");
      } else if (token.type === "th_open") {
        token.attrSet("role", "columnheader");
        labels.push(textOf(tokens[index + 1]));
      } else if (token.type === "td_open") {
        token.attrSet("role", "cell");
        const label = labels[column] ?? "";
        if (label !== "") token.attrSet("data-label", label);
        column += 1;
      } else if (isInTable && token.type === "inline") {
        for (const child of token.children ?? [])
          if (child.type === "code_inline") child.meta = { breaks: true };
      }
    }
  });

  const inline = markdown.renderer.rules.code_inline;
  markdown.renderer.rules.code_inline = (tokens, index, options, env, self) => {
    const html = inline?.(tokens, index, options, env, self) ?? "";
    if (tokens[index]?.meta?.breaks !== true) return html;
    // Text only: the tags of the element, and entities, stay whole.
    return html.replace(/>([^<]+)</g, (_, /** @type {string} */ text) => {
      const parts = text.split(/(&[^;]+;)/);
      return `>${parts.map((part, at) => (at % 2 === 1 ? part : part.replace(BREAKS, "$&<wbr>"))).join("")}<`;
    });
  };
}

/**
 * @param {import("markdown-it").Token | undefined} inline
 * @returns {string} its text without Markdown
 */
function textOf(inline) {
  return (inline?.children ?? []).map(({ content }) => content).join("");
}
