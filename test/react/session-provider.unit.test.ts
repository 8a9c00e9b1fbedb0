import { createElement, type ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { useSession } from "../../src/react/react.js";
import { Application } from "./page/application.js";
import { fakeClient, LOADING, SIGNED_OUT, signedIn, unavailable } from "./page/fake-client.js";

const ADA = signedIn({ idle: 3600 });

describe("rendered on a server", () => {
  it.each([
    ["loading", LOADING, "nobody", []],
    ["signed-in", ADA, "Ada Lovelace", ["For users only."]],
    ["signed-out", SIGNED_OUT, "nobody", ["Please sign in."]],
    ["unavailable after a sign-in", unavailable(ADA), "Ada Lovelace", ["For users only."]],
    ["unavailable from the start", unavailable(LOADING), "nobody", []],
  ])("SignedIn and SignedOut show their children by the state: %s", (_name, state, name, shown) => {
    const html = renderToString(createElement(Application, { client: fakeClient(state) }));
    expect(html).toContain(`${state.status}: ${name}`);
    expect(["For users only.", "Please sign in."].filter((text) => html.includes(text))).toEqual(
      shown,
    );
  });

  it("shows the initial state, even if the state has changed by then", () => {
    const client = fakeClient(ADA);
    client.set(SIGNED_OUT);
    expect(renderToString(createElement(Application, { client }))).toContain(
      "signed-in: Ada Lovelace",
    );
  });
});

it("useSession says what is missing when there is no SessionProvider", () => {
  const Lost = (): ReactNode => useSession().status;
  expect(() => renderToString(createElement(Lost))).toThrow("Put a <SessionProvider> above.");
});
