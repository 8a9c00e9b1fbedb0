import type { FetchOptions } from "idpauth/client";
import { auth } from "./auth";

/**
 * Sends JSON to the API, and resolves with whether the API accepted it. If the session has ended,
 * this waits until the user has signed in again.
 */
export async function post(path: string, body: object, init?: FetchOptions): Promise<boolean> {
  const headers = { "Content-Type": "application/json" };
  const request = { ...init, method: "POST", headers, body: JSON.stringify(body) };
  return auth.fetch(path, request).then(
    ({ ok }) => ok,
    () => false, // the network has failed
  );
}
