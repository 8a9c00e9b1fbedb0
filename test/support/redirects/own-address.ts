/** The parts of the application's own origin. */
export interface OwnAddress {
  /** `scheme://netloc`. */
  readonly origin: string;
  /** `http` or `https`. */
  readonly scheme: string;
  readonly otherScheme: string;
  /** Name and port, as in the Host header. */
  readonly host: string;
  readonly name: string;
  /** Empty for the scheme's default. */
  readonly port: string;
}

/** @throws TypeError if it is no http(s) origin in the browser's spelling */
export function ownAddress(origin: string): OwnAddress {
  const { protocol, host, hostname, port, origin: spelled } = new URL(origin);
  if (spelled !== origin || !/^https?:$/.test(protocol)) {
    throw new TypeError(
      `an http(s) origin in the browser's own spelling is needed, such as https://app.example, not ${origin}`,
    );
  }
  const scheme = protocol.slice(0, -1);
  return {
    origin,
    scheme,
    otherScheme: scheme === "http" ? "https" : "http",
    host,
    name: hostname,
    port,
  };
}
