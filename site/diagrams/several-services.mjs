/** @typedef {import("./drawing.mjs").Drawing} Drawing */

export const title = "A gateway and its services";
export const description =
  "The browser sends its session cookie to the gateway. The gateway exchanges codes and refresh tokens with the provider, reads the session from the store, " +
  "and passes each request on to a service with an access token that only this service accepts. The services check the tokens with the provider's keys.";

const SERVICES = ["orders", "billing", "reports"];

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 12 : 24;
  const column = isNarrow ? 130 : 220;
  const right = width - edge - column;
  const label = { width: column - 12, size: 12 };
  const head = { y: 14, width: column, height: isNarrow ? 82 : 62 };
  const browser = drawing.box({ ...head, x: edge, title: "Browser", lines: ["A session cookie"] });
  const provider = drawing.box({
    ...head,
    x: right,
    title: "Provider",
    lines: ["Users and keys"],
  });

  const top = browser.y + Math.max(browser.height, provider.height);
  const gatewayY = top + (isNarrow ? 66 : 50);
  for (const x of [edge + 12, right + 12])
    drawing.line(
      [
        [x, top],
        [x, gatewayY],
      ],
      { start: true, end: true },
    );
  drawing.text("Requests with the cookie", { ...label, x: edge + 24, y: top + 16 });
  drawing.text("Sign-ins, refreshes, logout tokens", { ...label, x: right + 24, y: top + 16 });
  const gateway = drawing.box({
    x: edge,
    y: gatewayY,
    width: width - 2 * edge,
    surface: "ours",
    title: "Gateway with idpauth",
    lines: [
      "Sessions in a store that all its processes share, SECRET_KEY, the client's secret or key",
    ],
  });

  const gap = isNarrow ? 8 : 16;
  const share = (width - 2 * edge - (SERVICES.length - 1) * gap) / SERVICES.length;
  const bottom = gateway.y + gateway.height;
  const servicesY = bottom + 62;
  SERVICES.forEach((name, index) => {
    const x = edge + index * (share + gap);
    const center = x + share / 2;
    drawing.line(
      [
        [center, bottom],
        [center, servicesY],
      ],
      { end: true },
    );
    drawing.text(`Token for ${name}`, {
      x: center,
      y: bottom + (isNarrow ? 10 : 20),
      width: share - 8,
      size: 12,
      centered: true,
      haloed: true,
    });
    drawing.box({ x, y: servicesY, width: share, title: name, lines: ["Checks each token"] });
  });
}
