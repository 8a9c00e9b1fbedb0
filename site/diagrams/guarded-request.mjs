/** @typedef {import("./drawing.mjs").Drawing} Drawing */
/** @typedef {import("./drawing.mjs").Surface} Surface */

export const title = "What a guarded request gets";
export const description =
  "If the session can't be read or refreshed, 503. If the user is signed out, a page gets 302 to the login, and any other request 401. " +
  "If allow doesn't return true, 403. If the authentication is too old or too weak, 302 or 401. Otherwise your handler runs.";

/**
 * @type {readonly { question: string, note?: string, otherwise: readonly { title: string, text: string, surface: Surface }[] }[]}
 */
const QUESTIONS = [
  {
    question: "Can idpauth read the session?",
    note: "It also refreshes the tokens if the ID token has expired.",
    otherwise: [
      {
        title: "503",
        text: "An outage, or your hook failed. Nobody is signed out.",
        surface: "warn",
      },
    ],
  },
  {
    question: "Is the user signed in?",
    note: "No session limit is reached, and nothing has ended the session.",
    otherwise: [
      { title: "302", text: "A browser opens a page: to the login, and back.", surface: "box" },
      { title: "401", text: "Any other request: JSON with login_url.", surface: "stop" },
    ],
  },
  {
    question: "Does allow return true?",
    note: "Only if the route has it. If it throws, your framework handles the error.",
    otherwise: [
      { title: "403", text: "A page, or JSON with the code forbidden.", surface: "stop" },
    ],
  },
  {
    question: "Is the authentication recent and strong enough?",
    note: "Only if the route has maxAge or acr.",
    otherwise: [
      { title: "302", text: "A browser opens a page: to the login, and back.", surface: "box" },
      { title: "401", text: "Any other request: JSON, with WWW-Authenticate", surface: "stop" },
    ],
  },
];

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 8 : 24;
  const left = isNarrow ? 140 : 290;
  const gap = isNarrow ? 38 : 56;
  const x = edge + left + gap;
  const center = edge + left / 2;
  const bus = edge + left + gap / 2;
  let y = 16;
  for (const { question, note, otherwise } of QUESTIONS) {
    const box = drawing.box({
      x: edge,
      y,
      width: left,
      surface: "ours",
      title: question,
      lines: note === undefined ? [] : [note],
    });
    const middle = box.y + box.height / 2;
    let top = y;
    const outcomes = otherwise.map(({ title: status, text, surface }) => {
      const outcome = drawing.box({
        x,
        y: top,
        width: width - edge - x,
        surface,
        title: status,
        lines: [text],
      });
      top = outcome.y + outcome.height + 8;
      return outcome;
    });
    drawing.text("no", {
      x: edge + left + gap / 4,
      y: middle - 18,
      width: 40,
      size: 12,
      centered: true,
    });
    for (const outcome of outcomes) {
      const center = outcome.y + outcome.height / 2;
      const to = Math.abs(center - middle) < (outcomes.length === 1 ? 40 : 8) ? middle : center;
      drawing.line(
        [
          [edge + left, middle],
          [bus, middle],
          [bus, to],
          [x, to],
        ],
        { end: true },
      );
    }
    const next = Math.max(box.y + box.height, top - 8) + 32;
    drawing.line(
      [
        [center, box.y + box.height],
        [center, next],
      ],
      { end: true },
    );
    drawing.text("yes", { x: center + 8, y: next - 24, width: 40, size: 12 });
    y = next;
  }
  drawing.box({
    x: edge,
    y,
    width: left,
    surface: "good",
    title: "Your handler runs",
    lines: ["200, or whatever it sends"],
  });
}
