/** @typedef {import("./drawing.mjs").Drawing} Drawing */

export const title = "A sign-in, step by step";
export const description =
  "Your app creates state, nonce and a PKCE verifier, and sends the browser to the provider. The provider sends it back with a code. " +
  "Your app uses the state once, exchanges the code together with the verifier, checks the ID token's nonce, and stores the session under a new cookie.";

const BROWSER = 0;
const APP = 1;
const PROVIDER = 2;

/**
 * @type {readonly ({ from: number, to: number, text: string } | { at: number, text: string })[]}
 */
const STEPS = [
  { from: BROWSER, to: APP, text: "Opens the login" },
  { at: APP, text: "Creates state, nonce and PKCE verifier, and stores them" },
  { from: APP, to: BROWSER, text: "Cookie A, 302 to the provider" },
  { from: BROWSER, to: PROVIDER, text: "State, nonce, PKCE challenge" },
  { at: PROVIDER, text: "The user signs in" },
  { from: PROVIDER, to: BROWSER, text: "302 to the callback: code, state" },
  { from: BROWSER, to: APP, text: "Code, state, cookie A" },
  { at: APP, text: "The state must be in cookie A's session, and works once" },
  { from: APP, to: PROVIDER, text: "Code, verifier, client secret" },
  { from: PROVIDER, to: APP, text: "Tokens" },
  { at: APP, text: "Checks signature, issuer, audience and nonce. Runs onSignIn" },
  { at: APP, text: "Stores the session under cookie B, and deletes cookie A's" },
  { from: APP, to: BROWSER, text: "Cookie B, 302 to the page" },
];

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 10 : 24;
  const headWidth = isNarrow ? 92 : 150;
  const columns = [edge + headWidth / 2, width / 2, width - edge - headWidth / 2];
  const at = (/** @type {number} */ column) => columns[column] ?? 0;
  const noteWidth = isNarrow ? 180 : 260;
  const heads = ["Browser", "Your app", "Provider"];
  const headY = 14;
  const started = drawing.later();
  let y = headY + 52;
  for (const step of STEPS) {
    if ("at" in step) {
      const boxWidth = step.at === APP ? noteWidth : headWidth;
      const x = step.at === APP ? at(APP) - boxWidth / 2 : width - edge - boxWidth;
      const box = drawing.box({
        x,
        y,
        width: boxWidth,
        surface: step.at === APP ? "ours" : "box",
        lines: [step.text],
      });
      y = box.y + box.height + 12;
      continue;
    }
    const [from, to] = [at(step.from), at(step.to)];
    const room = Math.abs(to - from) - 8;
    const bottom = drawing.text(step.text, {
      x: (from + to) / 2,
      y,
      width: room,
      size: 12,
      centered: true,
      haloed: true,
    });
    const direction = Math.sign(to - from);
    drawing.line(
      [
        [from + 2 * direction, bottom + 5],
        [to - 2 * direction, bottom + 5],
      ],
      { end: true },
    );
    y = bottom + 18;
  }
  started(() => {
    heads.forEach((head, column) => {
      const x = at(column);
      drawing.line(
        [
          [x, headY + 36],
          [x, y],
        ],
        { dashed: true },
      );
      drawing.box({
        x: x - headWidth / 2,
        y: headY,
        width: headWidth,
        title: head,
        surface: column === APP ? "ours" : "box",
      });
    });
  });
}
