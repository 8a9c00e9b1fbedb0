/**
 * The states on a sheet. The browser tests go through all states.
 */
const STATES = [
  "index-signed-out",
  "index-signed-in",
  "index-ended-max-age",
  "index-ended-no-refresh-token",
  "index-signed-in-sign-in-error",
  "sessions-several",
  "popup-signed-in",
  "chooser-two",
  "error-login-link-invalid",
  "error-invalid-parameter",
  "error-provider-unavailable",
];

/** @type {readonly { name: string, options: import("playwright-core").BrowserContextOptions }[]} */
const SCREENS = [
  { name: "light", options: { viewport: { width: 640, height: 400 }, colorScheme: "light" } },
  { name: "dark", options: { viewport: { width: 640, height: 400 }, colorScheme: "dark" } },
  { name: "phone", options: { viewport: { width: 320, height: 568 }, colorScheme: "light" } },
  // A window of 640 pixels, enlarged to 200 %.
  {
    name: "200 %",
    options: { viewport: { width: 320, height: 200 }, deviceScaleFactor: 2, colorScheme: "light" },
  },
];

/**
 * Writes one picture of many states of the pages, each on four screens.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {(state: string) => string} addressOf
 * @param {string} file
 */
export async function takeSheet(browser, addressOf, file) {
  /** @type {string[]} */
  const rows = [];
  const tabs = await Promise.all(
    SCREENS.map(({ options }) => browser.newPage({ reducedMotion: "reduce", ...options })),
  );
  for (const state of STATES) {
    let row = `<th>${state}</th>`;
    for (const tab of tabs) {
      await tab.goto(addressOf(state), { waitUntil: "load" });
      const picture = await tab.screenshot({ fullPage: true });
      row += `<td><img src="data:image/png;base64,${picture.toString("base64")}"></td>`;
    }
    rows.push(`<tr>${row}</tr>`);
  }
  for (const tab of tabs) await tab.close();
  const sheet = await browser.newPage({ viewport: { width: 1400, height: 800 } });
  await sheet.setContent(
    `<style>body{margin:8px;font:13px sans-serif}th{min-width:110px;max-width:120px;overflow-wrap:anywhere;text-align:start}td{vertical-align:top;padding:4px}img{display:block;max-width:400px;max-height:330px;border:1px solid #999}</style>
    <table><tr><th></th>${SCREENS.map(({ name }) => `<th>${name}</th>`).join("")}</tr>${rows.join("")}</table>`,
  );
  await sheet.screenshot({ path: file, fullPage: true, type: "jpeg", quality: 70 });
  await sheet.close();
}
