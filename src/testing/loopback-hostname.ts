/**
 * Returns whether a host name, in the URL parser's spelling, is this machine. Tests send requests
 * to no other machine.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
