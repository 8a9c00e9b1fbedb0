// The home page's first screen: what idpauth is, with the code next to it, and the command below.
// The page's source is plain Markdown, so the parts are told apart by what they are.

/** Code that a reader runs in a shell. */
const COMMAND = /^(?:sh|bash|shell|console)\b/;

/** @param {import("markdown-it").default} markdown */
export function firstScreen(markdown) {
  markdown.core.ruler.push("first-screen", (state) => {
    if (state.env.relativePath !== "index.md") return;
    const { tokens } = state;
    const html = (/** @type {string} */ content) => {
      const token = new state.Token("html_block", "", 0);
      token.content = `${content}\n`;
      return token;
    };
    const first = tokens.findIndex(
      ({ type, tag, content }) =>
        (type === "heading_open" && tag === "h2") || /^<(?:\w+Figure|picture)\b/.test(content),
    );
    const end = first === -1 ? tokens.length : first;
    const code = tokens.findIndex(
      ({ type, info }) =>
        type === "container_code-group_open" || (type === "fence" && !COMMAND.test(info)),
    );
    const title = tokens.find((_, index) => tokens[index - 1]?.type === "heading_open");
    if (title?.children) title.children = title.children.flatMap((child) => unbroken(child, state));
    const isBeside = code >= 0 && code < end;
    const isGroup = tokens[code]?.type === "container_code-group_open";
    const after = isGroup
      ? tokens.findIndex(({ type }) => type === "container_code-group_close") + 1
      : code + 1;
    state.tokens = [
      html(`<div class="first-screen${isBeside ? " has-code" : ""}"><div class="lead">`),
      ...tokens.slice(0, isBeside ? code : end),
      ...(isBeside
        ? [
            html(`</div><div class="sample">`),
            ...tokens.slice(code, after),
            html(`</div><div class="command">`),
            ...tokens.slice(after, end),
          ]
        : []),
      html("</div></div>"),
      ...tokens.slice(end),
    ];
  });
}

/**
 * In large type, a line that ends in `sign-` reads badly.
 *
 * @param {import("markdown-it").Token} child
 * @param {import("markdown-it").StateCore} state
 */
function unbroken(child, state) {
  if (child.type !== "text") return [child];
  return child.content.split(/(\w+-\w+)/).map((part, index) => {
    const token = new state.Token(index % 2 === 1 ? "html_inline" : "text", "", 0);
    token.content = index % 2 === 1 ? `<span class="unbroken">${part}</span>` : part;
    return token;
  });
}
