// @ts-check

// A form's redirects count as its targets, too, so no form here leads to a sign-in.
export const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin", // the setup link is a secret
};

/** @param {string} title @param {string} body HTML */
export function page(title, body) {
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<main><h1>${escapeHtml(title)}</h1>${body}</main></html>`;
}

/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
