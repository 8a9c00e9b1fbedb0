// Draws boxes, arrows and wrapped text as one SVG file. An <img> gets no styles from its page, so
// the file has the colors of both schemes.

/**
 * Colors by role. Text on each surface has a contrast of at least 4.5:1, which a unit test checks.
 */
export const LIGHT = {
  panel: "#f6f7fb",
  box: "#ffffff",
  ours: "#e3e9ff",
  good: "#d9f2e2",
  warn: "#fdeccb",
  stop: "#fbdfdf",
  border: "#a9b0c3",
  line: "#59617a",
  accent: "#3b57c4",
  text: "#1b2030",
  soft: "#4d546a",
};

export const DARK = {
  panel: "#20222b",
  box: "#2c2f3b",
  ours: "#2b3768",
  good: "#1d4a33",
  warn: "#524015",
  stop: "#5b2a2e",
  border: "#646b82",
  line: "#a4abc0",
  accent: "#a8b6ff",
  text: "#f1f3fa",
  soft: "#c3c8d8",
};

/** @typedef {"box" | "ours" | "good" | "warn" | "stop"} Surface */

/**
 * @typedef {object} TextOptions
 * @property {number} x left edge, or center with `centered`
 * @property {number} y top edge
 * @property {number} width beyond which words wrap
 * @property {number} [size]
 * @property {boolean} [bold]
 * @property {boolean} [soft] the second color of text
 * @property {boolean} [centered]
 * @property {boolean} [haloed] legible on top of a line
 */

/**
 * @typedef {object} Rectangle
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */

const PADDING = 10;

export class Drawing {
  /** @type {string[]} */
  #parts = [];
  #bottom = 0;

  /** @param {number} width */
  constructor(width) {
    this.width = width;
  }

  /** Whether the drawing is for a phone. */
  get isNarrow() {
    return this.width < 500;
  }

  /**
   * @param {string} text
   * @param {TextOptions} options
   * @returns {number} the bottom edge
   */
  text(
    text,
    { x, y, width, size = 13, bold = false, soft = false, centered = false, haloed = false },
  ) {
    const style = [soft && "soft", bold && "bold", centered && "centered", haloed && "haloed"]
      .filter(Boolean)
      .join(" ");
    const lineHeight = Math.round(size * 1.3);
    const lines = wrap(text, width, bold ? size * 1.08 : size);
    lines.forEach((line, index) => {
      const baseline = y + Math.round(size * 0.95) + index * lineHeight;
      const attributes = `${style === "" ? "" : ` class="${style}"`}${size === 13 ? "" : ` font-size="${size}"`}`;
      this.#parts.push(
        `<text x="${round(x)}" y="${round(baseline)}"${attributes}>${escape(line)}</text>`,
      );
    });
    return this.#reach(y + lines.length * lineHeight);
  }

  /**
   * A box with a bold first line. It is as high as its text, or `height`.
   *
   * @param {{ x: number, y: number, width: number, height?: number, surface?: Surface, title?: string, lines?: readonly string[] }}
   *   options
   * @returns {Rectangle}
   */
  box({ x, y, width, height = 0, surface = "box", title, lines = [] }) {
    const place = this.#parts.push("") - 1;
    const inner = { x: x + PADDING, width: width - 2 * PADDING };
    let bottom = y + PADDING;
    if (title !== undefined)
      bottom = this.text(title, { ...inner, y: bottom, size: 14, bold: true }) + 1;
    for (const line of lines)
      bottom = this.text(line, { ...inner, y: bottom + 2, soft: title !== undefined });
    const rectangle = { x, y, width, height: Math.max(height, bottom + PADDING - 2 - y) };
    this.#parts[place] = `<rect ${edges(rectangle)} rx="8" class="surface ${surface}"/>`;
    this.#reach(y + rectangle.height);
    return rectangle;
  }

  /**
   * A bar of a timeline or a chart.
   *
   * @param {Rectangle} rectangle
   * @param {"full" | "faint" | "empty"} kind
   */
  bar(rectangle, kind) {
    const style = kind === "empty" ? "surface box" : `bar ${kind}`;
    this.#parts.push(`<rect ${edges(rectangle)} rx="3" class="${style}"/>`);
    this.#reach(rectangle.y + rectangle.height);
  }

  /**
   * @param {readonly (readonly [x: number, y: number])[]} points
   * @param {{ start?: boolean, end?: boolean, dashed?: boolean, accent?: boolean }} [options] which
   *   ends have an arrowhead
   */
  line(points, { start = false, end = false, dashed = false, accent = false } = {}) {
    const path = points
      .map(([x, y], index) => `${index === 0 ? "M" : "L"}${round(x)} ${round(y)}`)
      .join("");
    const heads = `${start ? ' marker-start="url(#head)"' : ""}${end ? ' marker-end="url(#head)"' : ""}`;
    this.#parts.push(
      `<path d="${path}" class="line${dashed ? " dashed" : ""}${accent ? " accent" : ""}"${heads}/>`,
    );
    for (const [, y] of points) this.#reach(y);
  }

  /**
   * @param {number} x its center
   * @param {number} y
   * @param {number} radius
   */
  diamond(x, y, radius) {
    this.#parts.push(
      `<path d="M${round(x)} ${y - radius}l${radius} ${radius} ${-radius} ${radius} ${-radius} ${-radius}z" class="diamond"/>`,
    );
  }

  /**
   * Reserves the place of parts that are below the parts drawn from now on.
   *
   * @returns {(draw: () => void) => void} draws there
   */
  later() {
    const place = this.#parts.push("") - 1;
    return (draw) => {
      const above = this.#parts;
      this.#parts = [];
      draw();
      above[place] = this.#parts.join("\n");
      this.#parts = above;
    };
  }

  /**
   * @param {{ title: string, description: string }} about for people who do not see the drawing
   * @returns {{ svg: string, width: number, height: number }}
   */
  finish({ title, description }) {
    const { width } = this;
    const height = Math.ceil(this.#bottom + 16);
    const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">`;
    const panel = `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12" class="surface panel"/>`;
    const about = [
      `<title id="title">${escape(title)}</title>`,
      `<desc id="desc">${escape(description)}</desc>`,
    ];
    return {
      svg: [head, ...about, STYLE, HEAD, panel, ...this.#parts, "</svg>"].join("\n") + "\n",
      width,
      height,
    };
  }

  /** @param {number} bottom */
  #reach(bottom) {
    this.#bottom = Math.max(this.#bottom, bottom);
    return bottom;
  }
}

const HEAD =
  '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">' +
  '<path d="M0 1l9 4-9 4z" class="head"/></marker></defs>';

/**
 * @param {typeof LIGHT} colors
 * @returns {string}
 */
function rules(colors) {
  const surfaces = /** @type {const} */ (["panel", "box", "ours", "good", "warn", "stop"]).map(
    (name) => `.${name}{fill:${colors[name]}}`,
  );
  return [
    `text{fill:${colors.text}}`,
    `.soft{fill:${colors.soft}}`,
    ...surfaces,
    `.haloed{stroke:${colors.panel}}`,
    `.surface{stroke:${colors.border}}`,
    `.line{stroke:${colors.line}}`,
    `.head{fill:${colors.line}}`,
    `.bar,.diamond{fill:${colors.accent}}`,
    `.diamond{stroke:${colors.panel}}`,
    `.accent{stroke:${colors.accent}}`,
  ].join("");
}

const STYLE =
  "<style>" +
  "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}" +
  "text[font-size='11']{font-size:11px}text[font-size='12']{font-size:12px}text[font-size='14']{font-size:14px}" +
  ".bold{font-weight:600}.centered{text-anchor:middle}.haloed{paint-order:stroke;stroke-width:5px}" +
  ".line{fill:none;stroke-width:1.5}.dashed{stroke-dasharray:4 4}.faint{opacity:.35}" +
  rules(LIGHT) +
  `@media (prefers-color-scheme:dark){${rules(DARK)}}` +
  "</style>";

/**
 * @param {string} text `\n` always breaks
 * @param {number} width
 * @param {number} size
 * @returns {string[]}
 */
function wrap(text, width, size) {
  return text.split("\n").flatMap((paragraph) => {
    /** @type {string[]} */
    const lines = [];
    for (const word of paragraph.split(" ")) {
      const longer = `${lines.at(-1) ?? ""} ${word}`;
      if (lines.length > 0 && widthOf(longer, size) <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  });
}

/**
 * Estimated from the usual sans-serif fonts, and rather too wide.
 *
 * @param {string} text
 * @param {number} size
 * @returns {number}
 */
export function widthOf(text, size) {
  const ems = [...text].map((letter) => {
    if (/[ijlI.,:;'|!()[\]ft/ -]/.test(letter)) return 0.37;
    if (/[mwMW@]/.test(letter)) return 0.92;
    return /[A-Z_]/.test(letter) ? 0.7 : 0.61;
  });
  return size * ems.reduce((sum, em) => sum + em, 0);
}

/** @param {Rectangle} rectangle */
function edges({ x, y, width, height }) {
  return `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
