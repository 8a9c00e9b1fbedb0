// @ts-check

export const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * @param {string} title
 * @param {string} body HTML
 */
export function page(title, body) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<script type="module" src="/public/desk.js"></script>
<body>
<idpauth-warning seconds="120"></idpauth-warning>
<nav>
<a href="/desk">Desk</a>
<a href="/admin">Administration</a>
<a href="/transfer">Transfer</a>
<a href="/payroll">Payroll</a>
<a href="/idpauth/sessions">Your devices</a>
<a href="/idpauth/logout/">Sign out</a>
</nav>
<h1>${title}</h1>
${body}
</html>`;
}

/** @param {string} name */
export function deskOf(name) {
  return `<p>Hello ${escapeHtml(name)}.</p>
<h2>Notices</h2>
${form("/notices", "text", "Publish notice")}
<ul id="notices"></ul>
<h2>Orders</h2>
<button id="order">Order paper</button>
<ul id="orders"></ul>`;
}

/**
 * @param {string} action
 * @param {string} field
 * @param {string} button
 */
export function form(action, field, button) {
  return `<form method="post" action="${action}">
<input name="${field}" aria-label="${button}" required maxlength="100">
<button>${button}</button>
</form>`;
}

/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
