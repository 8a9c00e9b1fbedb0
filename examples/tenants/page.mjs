// @ts-check
import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; background: Canvas; color: CanvasText; }
body { font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1, h2 { line-height: 1.25; }
h2 { margin-top: 2rem; font-size: 1.2rem; }
dd { margin: 0 0 0.5rem; }
a + a { margin-inline-start: 1rem; }
input, button { font: inherit; padding: 0.4rem 0.6rem; }
input { display: block; box-sizing: border-box; width: 100%; }
[role="status"] { padding: 0.5rem 1rem; border-inline-start: 0.25rem solid; }`;
const styleHash = createHash("sha256").update(STYLE).digest("base64");

// A form's redirects count as its targets, too, so no form here leads to a sign-in.
export const HEADERS = {
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin", // the setup link is a secret
};

/** @param {string} title @param {string} body HTML */
export function page(title, body) {
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main><h1>${escapeHtml(title)}</h1>${body}</main></html>`;
}

/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
