/** @typedef {import("./drawing.mjs").Drawing} Drawing */

export const title = "Where everything is";
export const description =
  "The browser holds only the session cookie. Your app with idpauth holds the secrets, and decrypts a session's record while a request runs. " +
  "The session store holds encrypted records. No access or refresh token reaches the browser.";

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 12 : 24;
  const column = isNarrow ? 150 : 250;
  const right = width - edge - column;
  const label = { width: column - 22, size: 12 };

  // Browser and provider.
  const across = { x: width / 2, y: 14, width: isNarrow ? 300 : 420, size: 12, centered: true };
  const lineY =
    drawing.text("Redirects: the login request there, a code and the state back", across) + 6;
  const top = lineY + 22;
  const browser = drawing.box({
    x: edge,
    y: top,
    width: column,
    height: isNarrow ? 112 : 76,
    title: "Browser",
    lines: ["The session cookie, a random value", "No access or refresh token"],
  });
  const provider = drawing.box({
    x: right,
    y: top,
    width: column,
    height: browser.height,
    title: "Provider",
    lines: ["The user's password", "Its signing keys"],
  });
  const fromX = browser.x + column / 2;
  const toX = provider.x + column / 2;
  drawing.line(
    [
      [fromX, top],
      [fromX, lineY],
      [toX, lineY],
      [toX, top],
    ],
    { start: true, end: true },
  );

  // Both to the app.
  const gapTop = top + browser.height;
  const appY = gapTop + (isNarrow ? 150 : 94);
  for (const x of [edge + 12, right + 12])
    drawing.line(
      [
        [x, gapTop],
        [x, appY],
      ],
      { start: true, end: true },
    );
  let y = drawing.text("Requests with the cookie", { ...label, x: edge + 24, y: gapTop + 16 });
  drawing.text("Pages and JSON", { ...label, x: edge + 24, y: y + 8 });
  y = drawing.text("Code, refresh token and client secret", {
    ...label,
    x: right + 24,
    y: gapTop + 16,
  });
  drawing.text("Tokens, the provider's public keys, back-channel logouts", {
    ...label,
    x: right + 24,
    y: y + 8,
  });
  const app = drawing.box({
    x: edge,
    y: appY,
    width: width - 2 * edge,
    surface: "ours",
    title: "Your app with idpauth",
    lines: [
      "SECRET_KEY and the client secret",
      "While a request runs: the user's tokens, claims and data, decrypted",
    ],
  });

  // The app to the store.
  const storeY = app.y + app.height + (isNarrow ? 74 : 54);
  drawing.line(
    [
      [edge + 12, app.y + app.height],
      [edge + 12, storeY],
    ],
    { start: true, end: true },
  );
  drawing.text("Encrypted records, each stored under a hash of its cookie", {
    x: edge + 24,
    y: app.y + app.height + (isNarrow ? 20 : 18),
    width: width - 2 * edge - 24,
    size: 12,
  });
  drawing.box({
    x: edge,
    y: storeY,
    width: width - 2 * edge,
    title: "Session store",
    lines: [
      "Records that can be decrypted only with both SECRET_KEY and the cookie",
      "Unencrypted: when a session was last used, and when it expires",
    ],
  });
}
