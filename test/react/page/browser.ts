import { createElement, version } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import type { SessionState } from "../../../src/client/client.js";
import { Application, rendered } from "./application.js";
import {
  fakeClient,
  LOADING,
  signedIn,
  STATES,
  unavailable,
  type FakeClient,
} from "./fake-client.js";

export interface Fixture {
  readonly version: string;
  client: FakeClient;
  readonly rendered: typeof rendered;
  readonly signedIn: typeof signedIn;
  readonly unavailable: typeof unavailable;
  readonly states: typeof STATES;
  /**
   * Shows the application with the initial state; on a page that the server rendered, hydrates it.
   */
  start(initial?: SessionState, beforeHydration?: SessionState): void;
}

declare global {
  var fixture: Fixture;
}

let shown: Root | undefined;

globalThis.fixture = {
  version,
  client: fakeClient(LOADING),
  rendered,
  signedIn,
  unavailable,
  states: STATES,
  start(initial = LOADING, beforeHydration) {
    fixture.client = fakeClient(initial);
    if (beforeHydration) fixture.client.set(beforeHydration);
    shown?.unmount();
    const root = document.getElementById("root")!;
    const application = createElement(Application, { client: fixture.client });
    if (root.hasChildNodes()) shown = hydrateRoot(root, application);
    else (shown = createRoot(root)).render(application);
  },
};
