// The logo, and what is made of it: `npm run brand` writes the files to site/public.

/** Colors of the mark: the tile, and the lines on it. */
export const LIGHT = { tile: "#3f5fc8", lines: "#ffffff" };
export const DARK = { tile: "#a8b1ff", lines: "#1b1f3b" };

/** Three requests that become one. */
const LINES = "M6 8.5c6.5 0 6.5 7.5 11 7.5M6 16h11M6 23.5c6.5 0 6.5-7.5 11-7.5";

/**
 * @param {{ tile: string, lines: string }} colors
 * @param {number} [radius] of the tile's corners
 */
export function mark({ tile, lines }, radius = 8) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32"><rect width="32" height="32" rx="${radius}" fill="${tile}"/>${strokes(lines)}</svg>\n`;
}

/** The mark in the colors of the browser's scheme. */
export function favicon() {
  const style = `<style>rect{fill:${LIGHT.tile}}g{stroke:${LIGHT.lines}}@media (prefers-color-scheme:dark){rect{fill:${DARK.tile}}g{stroke:${DARK.lines}}}</style>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${style}<rect width="32" height="32" rx="8"/>${strokes()}</svg>\n`;
}

/** @param {string} [color] */
function strokes(color) {
  const stroke = color === undefined ? "" : ` stroke="${color}"`;
  return `<g fill="none"${stroke} stroke-width="2.6" stroke-linecap="round"><path d="${LINES}"/><circle cx="22" cy="16" r="4.6"/></g>`;
}

/**
 * The image that a link to the site shows, as an HTML page of 1200 × 630 pixels.
 *
 * @param {{ headline: string, race: { title: string, results: readonly (readonly [string, string])[] }, font: string }}
 *   parts `font`: the address of the font's file
 */
export function socialPage({ headline, race, font }) {
  const results = race.results.map(
    ([value, text]) => `<div><strong>${value}</strong><span>${text}</span></div>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><style>
@font-face{font-family:Inter;font-weight:100 900;src:url(${font}) format("woff2")}
*{box-sizing:border-box;margin:0}
body{width:1200px;height:630px;padding:72px 80px;font-family:Inter,sans-serif;color:#f1f3fa;background:linear-gradient(135deg,#1b2148 0%,#131522 70%);display:flex;flex-direction:column}
header{display:flex;align-items:center;gap:22px;font-size:50px;font-weight:700;letter-spacing:-.02em}
header svg{width:72px;height:72px}
h1{margin-top:48px;max-width:980px;font-size:66px;line-height:1.12;font-weight:750;letter-spacing:-.03em}
p{margin-top:auto;font-size:27px;color:#c3c8d8}
section{display:grid;grid-template-columns:repeat(3,1fr);gap:20px;margin-top:18px}
section div{padding:16px 24px;border:1px solid #4a5382;border-radius:16px;background:#232a55;display:flex;align-items:baseline;gap:14px;white-space:nowrap}
strong{font-size:36px;color:#a8b6ff}
span{font-size:23px;color:#d6daea}
</style></head><body><header>${mark(DARK)}idpauth</header><h1>${headline}</h1><p>${race.title}</p><section>${results.join("")}</section></body></html>`;
}
