/** @typedef {import("./drawing.mjs").Drawing} Drawing */

/**
 * How the race ends if process A is killed before its token request. A unit test compares it with
 * what the interactive figure shows.
 */
export const OUTCOME = { requests: 200, lease: 40, tokenRequests: 1, succeeded: 200, signedOut: 0 };

export const title = `${OUTCOME.requests} requests at once, and a process is killed`;
export const description =
  `An ID token has expired, and ${OUTCOME.requests} requests of the session arrive at two processes. The provider replaces the refresh token during each refresh, and detects reuse. ` +
  `Process A takes the lease and is killed. Process B takes the lease over after ${OUTCOME.lease} s and sends the only token request. Requests that fail meanwhile are sent again. All ${OUTCOME.succeeded} succeed, and nobody is signed out.`;

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 12 : 24;
  const lines = drawing.later();
  const place = isNarrow ? narrow(edge, width) : wide(edge, width);
  const requests = drawing.box({
    ...place.requests,
    surface: "ours",
    title: `${OUTCOME.requests} requests`,
    lines: [
      isNarrow
        ? "of one session, after its ID token has expired"
        : "of one session, after its ID token has expired, half of them at each process",
    ],
  });
  const a = drawing.box({
    ...place.a,
    surface: "stop",
    title: "Process A",
    lines: ["1. takes the lease", "2. is killed"],
  });
  const b = drawing.box({
    ...place.b,
    surface: "ours",
    title: "Process B",
    lines: [`3. takes the lease over after ${OUTCOME.lease} s`, "4. refreshes the tokens"],
  });
  const store = drawing.box({
    ...place.store,
    title: "Session store",
    lines: ["one lease per session"],
  });
  const provider = drawing.box({
    ...place.provider,
    title: "Provider",
    lines: ["replaces the refresh token, detects reuse"],
  });
  lines(() => {
    for (const process of [a, b]) drawing.line(between(requests, process, isNarrow), { end: true });
    drawing.line(between(a, store, isNarrow), { end: true, dashed: true });
    drawing.line(crossing(b, store, isNarrow), { end: true });
    drawing.line(between(b, provider, isNarrow), { end: true, accent: true });
  });
  counters(drawing, edge, Math.max(store.y + store.height, provider.y + provider.height) + 20);
}

/** @typedef {import("./drawing.mjs").Rectangle} Rectangle */

/** @param {number} edge @param {number} width */
function wide(edge, width) {
  const [left, middle, right] = [edge, edge + 190, width - edge - 180];
  return {
    requests: { x: left, y: 20, width: 138, height: 232 },
    a: { x: middle, y: 20, width: 172, height: 100 },
    b: { x: middle, y: 140, width: 172, height: 112 },
    store: { x: right, y: 20, width: 180, height: 100 },
    provider: { x: right, y: 140, width: 180, height: 112 },
  };
}

/** @param {number} edge @param {number} width */
function narrow(edge, width) {
  const half = (width - 2 * edge - 22) / 2;
  const right = edge + half + 22;
  return {
    requests: { x: edge, y: 12, width: width - 2 * edge },
    a: { x: edge, y: 102, width: half, height: 112 },
    b: { x: right, y: 102, width: half, height: 112 },
    store: { x: edge, y: 262, width: half, height: 92 },
    provider: { x: right, y: 262, width: half, height: 92 },
  };
}

/**
 * @param {Rectangle} from
 * @param {Rectangle} to
 * @param {boolean} isDown
 * @returns {[number, number][]}
 */
function between(from, to, isDown) {
  if (isDown) {
    const x = to.x + to.width / 2;
    return [
      [x, from.y + from.height],
      [x, to.y],
    ];
  }
  const y = to.y + to.height / 2;
  return [
    [from.x + from.width, y],
    [to.x, y],
  ];
}

/**
 * From process B to the store.
 *
 * @param {Rectangle} from
 * @param {Rectangle} to
 * @param {boolean} isDown
 * @returns {[number, number][]}
 */
function crossing(from, to, isDown) {
  return isDown
    ? [
        [from.x + 30, from.y + from.height],
        [to.x + to.width - 30, to.y],
      ]
    : [
        [from.x + from.width, from.y + 26],
        [to.x, to.y + to.height - 26],
      ];
}

/**
 * @param {Drawing} drawing
 * @param {number} edge
 * @param {number} top
 */
function counters(drawing, edge, top) {
  const { tokenRequests, requests, succeeded, signedOut } = OUTCOME;
  const gap = 12;
  const width = (drawing.width - 2 * edge - 2 * gap) / 3;
  const results = [
    [String(tokenRequests), "token request"],
    [drawing.isNarrow ? String(succeeded) : `${succeeded} of ${requests}`, "requests succeeded"],
    [String(signedOut), "users signed out"],
  ];
  for (const [index, [title = "", text = ""]] of results.entries())
    drawing.box({
      x: edge + index * (width + gap),
      y: top,
      width,
      height: drawing.isNarrow ? 70 : 0,
      surface: "good",
      title,
      lines: [text],
    });
}
