import { idpAuth } from "idpauth/node";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (request, response, blocked) => {
    response.writeHead(401, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ authenticated: false, login_url: blocked.loginUrl }));
  },
});
// #endregion

export const app = auth.listener(required((request, response) => void response.end("passed")));
