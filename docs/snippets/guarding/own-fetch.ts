import { idpAuth } from "idpauth/fetch";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (request, blocked) =>
    Response.json({ authenticated: false, login_url: blocked.loginUrl }, { status: 401 }),
});
// #endregion

const reports = required(() => new Response("passed"));
export const app = async (request: Request) => (await auth.fetch(request)) ?? reports(request);
