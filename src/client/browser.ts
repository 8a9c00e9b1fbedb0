/**
 * `idpauth/client/browser`: `idpauth/client`, `idpauth/client/streams` and
 * `idpauth/client/warning` as one file, for pages without a bundler.
 */
import "./warning/warning.js";

export * from "./client.js";
export * from "./streams/streams.js";
export type * from "./warning/warning.js";
