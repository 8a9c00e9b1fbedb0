import { createElement, StrictMode, type ReactNode } from "react";
import "../../../src/client/warning/warning.js";
import {
  SessionProvider,
  SignedIn,
  SignedOut,
  useSession,
  useSessionClient,
} from "../../../src/react/react.js";
import type { Client, SessionState } from "../../../src/client/client.js";
import type { IdpauthWarning } from "../../../src/client/warning/warning.js";

/** Each state that a component has rendered with. */
export const rendered: SessionState[] = [];

function Greeting(): ReactNode {
  const state = useSession();
  rendered.push(state);
  const { signOut } = useSessionClient();
  return createElement(
    "p",
    { id: "greeting" },
    `${state.status}: ${state.user?.name ?? "nobody"} `,
    createElement("button", { onClick: () => void signOut() }, "Leave"),
  );
}

/** React 18 sets attributes of an element, and no properties. */
const clientOf = (client: Client) => (element: IdpauthWarning | null) => {
  if (element) element.client = client;
};

export interface ApplicationProps {
  readonly client: Client;
}

export function Application({ client }: ApplicationProps): ReactNode {
  return createElement(
    StrictMode,
    {},
    createElement(
      SessionProvider,
      { client },
      createElement(
        "main",
        {},
        createElement("h1", {}, "Orders"),
        createElement("label", {}, "Note ", createElement("input", { id: "note" })),
        createElement(Greeting),
        createElement(SignedIn, {}, createElement("p", { id: "in" }, "For users only.")),
        createElement(SignedOut, {}, createElement("p", { id: "out" }, "Please sign in.")),
        createElement("idpauth-warning", { seconds: 90, ref: clientOf(client) }),
      ),
    ),
  );
}
