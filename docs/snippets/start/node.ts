import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { idpAuth } from "idpauth/node";

const auth = idpAuth(); // settings come from the environment

const reports = auth.idpRequired(async (request, response) => {
  const { user } = await auth.requireSession(request);
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ hello: user.name, email: user.email }));
});

function app(request: IncomingMessage, response: ServerResponse) {
  const [path] = (request.url ?? "/").split("?");
  if (path === "/reports") return reports(request, response);
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.end('<a href="/reports">Reports</a>');
}

const port = process.env["PORT"] ?? 3000;
// The listener runs the startup checks, responds to /idpauth/*, and passes everything else to app.
createServer(auth.listener(app)).listen(port, () => {
  console.log(`http://localhost:${port}/reports`);
});
