// Shows figures where a page has the comment `<!-- figure: NAME -->`. Elsewhere the comment is invisible, and the page says the same in words.
import { figures } from "../diagrams/index.mjs";

/** An interactive figure is a component of the theme. */
const COMPONENTS = new Map([["session-timeline", "<SessionTimeline />"]]);

const PLACE = /^<!-- figure: (.+) -->\s*$/;

/** @param {import("markdown-it").default} markdown */
export function figurePlaces(markdown) {
  const drawn = new Map(figures().map((figure) => [figure.name, htmlOf(figure)]));
  const { html_block: other } = markdown.renderer.rules;
  markdown.renderer.rules.html_block = (tokens, index, options, env, self) => {
    const name = PLACE.exec(tokens[index]?.content ?? "")?.[1];
    if (name === undefined) return other?.(tokens, index, options, env, self) ?? "";
    const html = COMPONENTS.get(name) ?? drawn.get(name);
    if (html === undefined) throw new Error(`${env.relativePath}: there is no figure ${name} in site/diagrams/index.mjs.`);
    return `${html}\n`;
  };
}

/** @param {ReturnType<typeof figures>[number]} figure */
function htmlOf({ name, title, description, wide, narrow }) {
  const size = (/** @type {{ width: number, height: number }} */ { width, height }) => `width="${width}" height="${height}"`;
  return [
    `<picture class="figure">`,
    `<source media="(max-width: 639px)" srcset="../diagrams/${name}-narrow.svg" ${size(narrow)}>`,
    `<img src="../diagrams/${name}.svg" ${size(wide)} alt="${quoted(`${title}. ${description}`)}">`,
    "</picture>",
  ].join("");
}

/** @param {string} text */
function quoted(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
