/**
 * Returns whether a host name, as the URL parser writes it, is a loopback name or address (RFC 6761
 * section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). Other names that resolve to
 * loopback do not count.
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
