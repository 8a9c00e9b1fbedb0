import "idpauth/client/warning";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Account } from "./account.js";
import { Devices } from "./devices.js";
import { ItemList } from "./item-list.js";
import { SessionView } from "./session-view.js";

/** The views, by the last part of their paths below /app/. */
const VIEWS = { "": "Items", devices: "Devices", session: "Session" } as const;
type View = keyof typeof VIEWS;

/** Returns the view that the address names; the items for an unknown one. */
function viewOf({ pathname }: Location): View {
  const name = pathname.replace(/^\/app\/|\/$/g, "");
  return Object.hasOwn(VIEWS, name) ? (name as View) : "";
}

/** The application: one view at a time below the account. */
export function App({ mountPath }: { readonly mountPath: string }) {
  const [view, setView] = useState(() => viewOf(location));
  const heading = useRef<HTMLHeadingElement>(null);
  // The draft lives here, so that it survives a change of the view.
  const [draft, setDraft] = useState("");

  useEffect(() => {
    const follow = () => setView(viewOf(location));
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("popstate", follow);
    };
  }, []);

  const open = (next: View) => {
    history.pushState(null, "", `/app/${next}`);
    setView(next);
    heading.current?.focus();
  };

  return (
    <>
      <idpauth-warning seconds={60} />
      <title>{`${VIEWS[view]}: single-page demo`}</title>
      <header className="bar">
        <a href="/">The idpauth demo</a>
        <nav aria-label="Views">
          {(Object.keys(VIEWS) as View[]).map((name) => (
            <ViewLink key={name} name={name} isCurrent={name === view} onOpen={open}>
              {VIEWS[name]}
            </ViewLink>
          ))}
        </nav>
      </header>
      <main>
        <Account />
        <h1 ref={heading} tabIndex={-1}>
          {VIEWS[view]}
        </h1>
        {view === "" && <ItemList draft={draft} setDraft={setDraft} />}
        {view === "devices" && <Devices address={`${mountPath}sessions`} />}
        {view === "session" && <SessionView />}
      </main>
    </>
  );
}

interface ViewLinkProps {
  readonly name: View;
  readonly isCurrent: boolean;
  readonly onOpen: (view: View) => void;
  readonly children: ReactNode;
}

/** A link that changes the view; with a modifier key, the browser opens a tab as usual. */
function ViewLink({ name, isCurrent, onOpen, children }: ViewLinkProps) {
  return (
    <a
      href={`/app/${name}`}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen(name);
      }}
    >
      {children}
    </a>
  );
}
