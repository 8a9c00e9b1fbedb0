/** @param {unknown} value */
const escaped = (value) => String(value).replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** @param {string | null | undefined} email */
export const startPage = (email) =>
  `<p>Link a staff account to ${escaped(email)}.</p><form method="post" action="/account/link"><button>Continue</button></form>`;

/**
 * @param {string} first
 * @param {string | null | undefined} second
 */
export const confirmPage = (first, second) =>
  `<p>Link the staff account ${escaped(second)} to ${escaped(first)}?</p>
   <form method="post" action="/account/link/confirm"><button>Link</button></form>`;
