import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { Application } from "./application.js";
import { fakeClient, STATES } from "./fake-client.js";

/** Returns the markup of the application, as a server renders it. */
export function render(state: keyof typeof STATES): string {
  return renderToString(createElement(Application, { client: fakeClient(STATES[state]) }));
}
