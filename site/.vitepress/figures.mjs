// Shows figures where a page has the comment `<!-- figure: NAME -->`, and pictures of
// docs/screenshots/ where it has the comment `<!-- screenshot: NAME: ALTERNATIVE TEXT -->`.
// Elsewhere the comments are invisible, and the page says the same in words.
import { figures } from "../diagrams/index.mjs";

/** An interactive figure is a component of the theme. */
const COMPONENTS = new Map([["session-timeline", "<SessionTimeline />"]]);

const PLACE = /^<!-- figure: (.+) -->\s*$/;
const SCREENSHOT = /^<!-- screenshot: ([\w-]+): (.+) -->\s*$/;

/**
 * A screenshot's width, and what is shown of it: of idpauth's own pages, the card in the middle of
 * the background.
 */
const WIDTH = 900;
const WHOLE = { width: WIDTH, height: 620, shown: WIDTH };
const CARD = { width: 470, height: 400, shown: 400 };
const PARTS = new Map([
  ["demo-app", { width: 720, height: 1120, shown: 460 }],
  ["index", CARD],
  ["error", { ...CARD, height: 510 }],
  ["sessions", { ...CARD, height: 632 }],
]);

/** @param {import("markdown-it").default} markdown */
export function figurePlaces(markdown) {
  const drawn = new Map(figures().map((figure) => [figure.name, htmlOf(figure)]));
  const { html_block: other } = markdown.renderer.rules;
  markdown.renderer.rules.html_block = (tokens, index, options, env, self) => {
    const content = tokens[index]?.content ?? "";
    const [, shot, text = ""] = SCREENSHOT.exec(content) ?? [];
    if (shot !== undefined) return `${screenshot(shot, text)}\n`;
    const name = PLACE.exec(content)?.[1];
    if (name === undefined) return other?.(tokens, index, options, env, self) ?? "";
    const html = COMPONENTS.get(name) ?? drawn.get(name);
    if (html === undefined)
      throw new Error(
        `${env.relativePath}: there is no figure ${name} in site/diagrams/index.mjs.`,
      );
    return `${html}\n`;
  };
}

/** @param {ReturnType<typeof figures>[number]} figure */
function htmlOf({ name, title, description, wide, narrow }) {
  const size = (/** @type {{ width: number, height: number }} */ { width, height }) =>
    `width="${width}" height="${height}"`;
  return [
    `<picture class="figure">`,
    `<source media="(max-width: 639px)" srcset="../diagrams/${name}-narrow.svg" ${size(narrow)}>`,
    `<img src="../diagrams/${name}.svg" ${size(wide)} alt="${quoted(`${title}. ${description}`)}">`,
    "</picture>",
  ].join("");
}

/**
 * The site's switch for the colors sets a class, so CSS chooses one of the two. The browser doesn't
 * load the other.
 *
 * @param {string} name
 * @param {string} text
 */
function screenshot(name, text) {
  const { width, height, shown } = PARTS.get(name) ?? PARTS.get(name.replace(/-.*/, "")) ?? WHOLE;
  const images = ["light", "dark"].map(
    (scheme) =>
      `<img class="${scheme}" src="../screenshots/${name}-${scheme}.png" alt="${quoted(text)}" loading="lazy" style="width: ${(100 * WIDTH) / width}%">`,
  );
  return `<p class="screenshot" style="max-width: ${shown}px; aspect-ratio: ${width} / ${height}">${images.join("")}</p>`;
}

/** @param {string} text */
function quoted(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
