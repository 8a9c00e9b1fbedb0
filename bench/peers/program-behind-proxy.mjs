// The application behind a proxy that signs users in, as a program of `npm run compare`.
import { fileURLToPath } from "node:url";

/**
 * @param {import("../compare/peer.mjs").StartOptions} options
 * @param {number} port
 * @param {{ token: string, user: string }} [headers] of the proxy, in lower case; none without
 *   sign-in
 */
export function programBehindProxy({ apiUrl }, port, headers = { token: "none", user: "none" }) {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL("../compare/application-behind-proxy.mjs", import.meta.url))],
    env: {
      PORT: String(port),
      API_URL: apiUrl,
      TOKEN_HEADER: headers.token,
      USER_HEADER: headers.user,
    },
    port,
  };
}
