import { STYLE } from "./style.js";

export interface BalancerPlan {
  /** The port for browsers; loopback only. */
  readonly port: number;
  readonly applications: readonly { readonly name: string; readonly port: number }[];
  /** The HTTP response, in a file, for browsers while no application process runs. */
  readonly errorFile: string;
}

/**
 * HAProxy's settings: each request to the next process; one that has ended is left out, and its
 * requests go to another.
 */
export function balancerConfiguration({ port, applications, errorFile }: BalancerPlan): string {
  const servers = applications.map(
    (application) => `  server ${application.name} 127.0.0.1:${application.port}`,
  );
  return `global
  maxconn 1000
  quiet

defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  timeout http-request 10s
  # For WebSockets. A user who only listens sends nothing.
  timeout tunnel 1h
  errorfile 503 "${errorFile}"

frontend visitors
  bind 127.0.0.1:${port}
  default_backend applications

backend applications
  balance roundrobin
  option httpchk GET /health
  # A process that dies is noticed by the first request that it does not answer, and comes back when a check succeeds.
  default-server check inter 500ms fall 1 rise 1 observe layer4 error-limit 1 on-error mark-down
  # A request whose process died goes to another one: always when the connection failed, else only what may be repeated.
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET
${servers.join("\n")}
`;
}

/** As a file for HAProxy: headers and body, sent byte for byte. */
export function nobodyAnswers(): string {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="2">
<title>No process is running</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>No process is running</h1>
<p>This is the load balancer. The supervisor starts ended processes again after a few seconds; no user has been signed out.</p>
<p><a href="">Ask again</a></p>
</main>
</body>
</html>
`;
  return [
    "HTTP/1.1 503 Service Unavailable",
    "Content-Type: text/html; charset=utf-8",
    "Cache-Control: no-store",
    "Retry-After: 2",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");
}
