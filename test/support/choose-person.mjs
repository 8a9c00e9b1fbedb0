// What a user does on the page of `npx idpauth provider`.

/** @typedef {import("../../src/testing/browser/cookie-browser.js").CookieBrowser} CookieBrowser */
/**
 * @typedef {import("../../src/testing/browser/cookie-browser.js").BrowserResponse} BrowserResponse
 */

/**
 * The buttons of the page, in their order.
 *
 * @param {string} html
 * @returns {{ name: string, value: string, text: string }[]}
 */
export function buttonsIn(html) {
  return [
    ...html.matchAll(
      /<button\s+class="[^"]*"\s+name="([^"]*)"\s+value="([^"]*)"[^>]*>(.*?)<\/button>/gs,
    ),
  ].map(([, name = "", value = "", inner = ""]) => ({
    name,
    value: unescaped(value),
    text: unescaped(
      inner
        .replaceAll(/<span class="initial".*?<\/span>/gs, "")
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    ),
  }));
}

/**
 * Presses the first button whose text contains these words, and follows the redirects.
 *
 * @param {CookieBrowser} browser
 * @param {BrowserResponse} page
 * @param {string} words
 */
export async function choose(browser, page, words) {
  const { url, ...options } = submission(page, words);
  const { location, status, text } = await browser.get(url, options);
  if (location === undefined) throw new Error(`the form leads nowhere: ${status} ${text}`);
  return browser.follow(location);
}

/**
 * The request that the button sends.
 *
 * @param {BrowserResponse} page
 * @param {string} words
 */
export function submission(page, words) {
  const button = buttonsIn(page.text).find(({ text }) => text.includes(words));
  const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1];
  if (button === undefined || action === undefined)
    throw new Error(`the page has no button "${words}": ${page.status} ${page.text}`);
  return {
    url: new URL(unescaped(action), page.url),
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
    },
    body: new URLSearchParams({ [button.name]: button.value }).toString(),
  };
}

/** @param {string} text */
function unescaped(text) {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
