// Shows code in tabs where a page has headings, each with one block of code, between the comments
// `<!-- tabs -->` and `<!-- /tabs -->`. Everywhere else, the same source is headings with code.

const MARK = /^<!-- (\/?)tabs -->\s*$/;

/** @param {import("markdown-it").default} markdown */
export function tabs(markdown) {
  // Before the headings are collected for the outline and get their anchors.
  markdown.core.ruler.after("block", "tabs", (state) => {
    let isInTabs = false;
    let label = "";
    state.tokens = state.tokens.filter((token, index, all) => {
      const mark = token.type === "html_block" ? MARK.exec(token.content) : null;
      if (mark !== null) {
        isInTabs = mark[1] === "";
        // VitePress's tabs, which have their labels in brackets after the language.
        token.type = `container_code-group_${isInTabs ? "open" : "close"}`;
        token.nesting = isInTabs ? 1 : -1;
        return true;
      }
      if (!isInTabs) return true;
      if (all[index - 1]?.type === "heading_open") label = token.content;
      if (token.type === "fence") {
        token.info += ` [${label}]`;
        token.meta = { label };
      }
      return token.type === "fence" || token.type === "html_block";
    });
  });

  // Without JavaScript, all of a group's code is there, and theme/style.css shows this label.
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const html = fence?.(tokens, index, options, env, self) ?? "";
    /** @type {string | undefined} */
    const label = tokens[index]?.meta?.label;
    if (label === undefined) return html;
    return html.replace("<div ", `<div data-label="${markdown.utils.escapeHtml(label)}" `);
  };
}
