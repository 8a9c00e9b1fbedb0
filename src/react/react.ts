"use client";
/**
 * `idpauth/react`: the session of `idpauth/client` for React components.
 */
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
