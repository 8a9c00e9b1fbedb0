/** Whether a host name, as the URL parser writes it, is this machine, which nothing of a test may leave. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
