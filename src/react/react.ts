"use client";
/**
 * `idpauth/react`: the session of `idpauth/client` for React components.
 */
import type { WarningProps } from "./warning-props.js";

export { pageClient } from "../client/page-client.js";
export { ServerContent } from "./server-content.js";
export type { ServerContentProps } from "./server-content.js";
export {
  SessionProvider,
  SignedIn,
  SignedOut,
  useSession,
  useSessionClient,
} from "./session-provider.js";
export type { SessionProviderProps } from "./session-provider.js";
export type { WarningProps } from "./warning-props.js";

declare module "react" {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- React's types have it.
  namespace JSX {
    interface IntrinsicElements {
      /** The element of `idpauth/client/warning`. */
      "idpauth-warning": WarningProps;
    }
  }
}
