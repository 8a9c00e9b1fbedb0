/**
 * `idpauth/client`: the session as the browser sees it. It has no dependency and no code of the
 * server.
 */
export type { ClientState } from "../record/client-state.js";
export type { EndReason } from "../record/end-reason.js";
export type { UserPayload } from "../record/identity.js";
export type {
  Client,
  ClientOptions,
  FetchOptions,
  SignInOptions,
  SignOutOptions,
  StepUpOptions,
  StepUpResult,
} from "./client-interface.js";
export { createClient } from "./page-client.js";
export { SignInError } from "./sign-in-error.js";
export { UserChangedError } from "./user-changed-error.js";
export type {
  Deadlines,
  Loading,
  SessionState,
  SignedIn,
  SignedOut,
  Unavailable,
} from "./session-state.js";
