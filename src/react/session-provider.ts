import {
  createContext,
  createElement,
  useContext,
  useSyncExternalStore,
  type ReactNode,
} from "react";
import type { Client, SessionState } from "../client/client.js";

/** A client for any `ClientData`: the hooks return it with the type that their caller names. */
const ClientContext = createContext<unknown>(null);

/** Props of `SessionProvider`. */
export interface SessionProviderProps<ClientData extends object> {
  /**
   * The result of `createClient`. Create it once for each page of the browser, and once for each
   * request on a server.
   */
  readonly client: Client<ClientData>;
  /** The components that use the session. */
  readonly children?: ReactNode;
}

/**
 * Gives the session to the components below it.
 *
 * @example
 * const page = (
 *   <SessionProvider client={auth}>
 *     <Page />
 *   </SessionProvider>
 * );
 */
export function SessionProvider<ClientData extends object>({
  client,
  children,
}: SessionProviderProps<ClientData>): ReactNode {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/**
 * Returns the client of the `SessionProvider` above, for `signIn`, `signOut`, `keepAlive` and
 * `fetch`.
 *
 * @throws Error there is no `SessionProvider` above the component
 *
 * @example
 * function SignOutButton() {
 *   const auth = useSessionClient();
 *   return <button onClick={() => auth.signOut()}>Sign out</button>;
 * }
 */
export function useSessionClient<
  ClientData extends object = Record<string, unknown>,
>(): Client<ClientData> {
  const client = useContext(ClientContext) as Client<ClientData> | null;
  if (!client) throw new Error("Put a <SessionProvider> above.");
  return client;
}

/**
 * Returns the present state. A new state renders the component again.
 *
 * While a server renders and while a page hydrates, it returns the client's initial state.
 *
 * @throws Error there is no `SessionProvider` above the component
 *
 * @example
 * function Greeting() {
 *   const { user } = useSession();
 *   return user && <p>Hello {user.name}</p>;
 * }
 */
export function useSession<
  ClientData extends object = Record<string, unknown>,
>(): SessionState<ClientData> {
  const client = useSessionClient<ClientData>();
  return useSyncExternalStore(client.subscribe, client.getState, client.getInitialState);
}

/**
 * Renders its children while a user is known: in `signed-in`, and in an `unavailable` that follows
 * it.
 *
 * @example
 * const page = (
 *   <SignedIn>
 *     <Page />
 *   </SignedIn>
 * );
 */
export function SignedIn({ children }: { readonly children?: ReactNode }): ReactNode {
  return useSession().user && children;
}

/**
 * Renders its children while the user is `signed-out`: not in `loading` and not in `unavailable`.
 *
 * @example
 * const page = <SignedOut>You are signed out.</SignedOut>;
 */
export function SignedOut({ children }: { readonly children?: ReactNode }): ReactNode {
  return useSession().status === "signed-out" && children;
}
