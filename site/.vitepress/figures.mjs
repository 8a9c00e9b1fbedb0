// Shows more than the plain images that a page has in other places. A figure of docs/diagrams/ has
// a narrow version for phones, or is interactive. A screenshot of docs/screenshots/ has a dark
// version.
import { figures } from "../diagrams/index.mjs";

/** An interactive figure is a component of the theme. */
const COMPONENTS = new Map([
  ["race", "<RaceFigure />"],
  ["session-timeline", "<SessionTimeline />"],
]);

const FIGURE = /^((?:.*\/)?diagrams\/([\w-]+))\.svg$/;
const SCREENSHOT = /^(.*\/screenshots\/([\w-]+))-light\.png$/;

/**
 * A screenshot's width, and what is shown of it: of idpauth's own pages, the card in the middle of
 * the background.
 */
const WIDTH = 900;
/** @typedef {{ width: number, height: number, shown: number, taken?: number }} Part */
/** @type {Part} */
const WHOLE = { width: WIDTH, height: 620, shown: WIDTH };
const CARD = { width: 470, height: 400, shown: 400 };
/** @type {Map<string, Part>} */
const PARTS = new Map([
  ["demo", { width: 1200, height: 600, shown: 900, taken: 1200 }],
  ["index", CARD],
  ["error", { ...CARD, height: 510 }],
  ["sessions", { ...CARD, height: 632 }],
]);

/** @param {import("markdown-it").default} markdown */
export function richImages(markdown) {
  const drawn = new Map(figures().map((figure) => [figure.name, figure]));
  markdown.core.ruler.push("rich-images", (state) => {
    for (let index = state.tokens.length - 1; index > 0; index -= 1) {
      const [image, ...others] = state.tokens[index]?.children ?? [];
      if (image?.type !== "image" || others.length > 0) continue;
      const html = htmlOf(image.attrGet("src") ?? "", image.content);
      if (html === undefined) continue;
      const block = new state.Token("html_block", "", 0);
      block.content = `${html}\n`;
      // The image is alone in its paragraph, so this includes the paragraph's begin and end.
      state.tokens.splice(index - 1, 3, block);
    }
  });

  /**
   * @param {string} src
   * @param {string} text
   */
  function htmlOf(src, text) {
    const [, file = "", name = ""] = FIGURE.exec(src) ?? [];
    const figure = drawn.get(name);
    if (figure !== undefined) return COMPONENTS.get(name) ?? picture(file, figure);
    const [, shot, part = ""] = SCREENSHOT.exec(src) ?? [];
    return shot === undefined ? undefined : screenshot(shot, part, text);
  }
}

/**
 * @param {string} file without its ending
 * @param {ReturnType<typeof figures>[number]} figure
 */
function picture(file, { title, description, wide, narrow }) {
  const size = (/** @type {{ width: number, height: number }} */ { width, height }) =>
    `width="${width}" height="${height}"`;
  return [
    `<picture class="figure">`,
    `<source media="(max-width: 639px)" srcset="${file}-narrow.svg" ${size(narrow)}>`,
    `<img src="${file}.svg" ${size(wide)} alt="${quoted(`${title}. ${description}`)}">`,
    "</picture>",
  ].join("");
}

/**
 * The site's switch for the colors sets a class, so CSS chooses one of the two. The browser doesn't
 * load the other.
 *
 * @param {string} file without the scheme
 * @param {string} name
 * @param {string} text
 */
function screenshot(file, name, text) {
  const {
    width,
    height,
    shown,
    taken = WIDTH,
  } = PARTS.get(name) ?? PARTS.get(name.replace(/-.*/, "")) ?? WHOLE;
  const images = ["light", "dark"].map(
    (scheme) =>
      `<img class="${scheme}" src="${file}-${scheme}.png" alt="${quoted(text)}" loading="lazy" style="width: ${(100 * taken) / width}%">`,
  );
  return `<p class="screenshot" style="max-width: ${shown}px; aspect-ratio: ${width} / ${height}">${images.join("")}</p>`;
}

/** @param {string} text */
function quoted(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
