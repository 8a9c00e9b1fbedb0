import { createElement, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import {
  ServerContent,
  SessionProvider,
  type ServerContentProps,
} from "../../../src/react/react.js";
import type { SessionState } from "../../../src/client/client.js";
import { fakeClient, signedIn, SIGNED_OUT, unavailable, type FakeClient } from "./fake-client.js";

export interface ContentFixture {
  client: FakeClient;
  /** How often the component has called `refresh`. */
  refreshes: number;
  readonly signedIn: typeof signedIn;
  readonly signedOut: SessionState;
  readonly unavailable: typeof unavailable;
  start(initial: SessionState): void;
  /** Gives the component what a server has rendered for this account. */
  serve(account: string | null): void;
}

declare global {
  var content: ContentFixture;
}

let shown: Root | undefined;

globalThis.content = {
  client: fakeClient(SIGNED_OUT),
  refreshes: 0,
  signedIn,
  signedOut: SIGNED_OUT,
  unavailable,
  start(initial) {
    content.client = fakeClient(initial);
    content.refreshes = 0;
    shown?.unmount();
    shown = createRoot(document.getElementById("root")!);
    content.serve(initial.account);
  },
  serve(account) {
    const props: ServerContentProps = { account, refresh: () => void (content.refreshes += 1) };
    const children = [
      `Rendered for ${account ?? "all"}. `,
      createElement("input", { key: "note", id: "note" }),
    ];
    shown?.render(
      createElement(
        StrictMode,
        {},
        createElement(
          SessionProvider,
          { client: content.client },
          createElement(ServerContent, props, ...children),
        ),
      ),
    );
  },
};
