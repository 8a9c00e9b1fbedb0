"""A service in Python's standard library, which can't verify a JWT's signature.

It asks the provider about each token instead (RFC 7662). In return, it notices a logout at once.
"""

import base64
import contextlib
import json
import os
import signal
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AUDIENCE = "https://reports.example.com"
SCOPE = "reports"
CREDENTIALS = ":".join(
    urllib.parse.quote_plus(os.environ[name]) for name in ("REPORTS_CLIENT_ID", "REPORTS_CLIENT_SECRET")
)


def introspect(token):
    """Returns what the provider says about a token, such as {"active": False}."""
    request = urllib.request.Request(
        os.environ["INTROSPECTION_ENDPOINT"],
        data=urllib.parse.urlencode({"token": token, "token_type_hint": "access_token"}).encode(),
        headers={"Authorization": "Basic " + base64.b64encode(CREDENTIALS.encode()).decode()},
    )
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)


def check(authorization):
    """Returns a status, and the user or an error."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return 401, "invalid_token"
    try:
        found = introspect(token)
    except (OSError, ValueError):
        return 503, "provider_unavailable"  # 401 would claim that the token is invalid
    audiences = found.get("aud", [])
    if isinstance(audiences, str):
        audiences = [audiences]
    if (
        found.get("active") is not True
        or found.get("token_type") != "Bearer"  # a refresh token is active, too
        or found.get("iss") != os.environ["IDP_ISSUER"]
        or AUDIENCE not in audiences  # otherwise, tokens for other services would pass
    ):
        return 401, "invalid_token"
    if SCOPE not in found.get("scope", "").split():
        return 403, "insufficient_scope"
    return 200, found["sub"]


class Reports(BaseHTTPRequestHandler):
    timeout = 3  # seconds that a client may be silent; otherwise, half a request would hold the end

    def do_GET(self):
        status, found = check(self.headers.get("Authorization"))
        body = [{"report": "Visitors", "for": found}] if status == 200 else {"error": found}
        content = json.dumps(body).encode()
        with contextlib.suppress(ConnectionError):  # the browser has left
            self.send_response(status)
            if status != 200:
                self.send_header("WWW-Authenticate", f'Bearer error="{found}"')
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False  # requests that have begun get their response
    request_queue_size = 128  # connections that wait; 5 by default


with Server(("127.0.0.1", int(os.environ.get("PORT", "4003"))), Reports) as server:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever(poll_interval=0.05)
