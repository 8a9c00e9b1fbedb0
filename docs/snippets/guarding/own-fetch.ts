// #region own
import { idpAuth } from "idpauth/fetch";

const auth = idpAuth();
export const required = auth.idpRequiredWith({
  unauthenticated: (request, blocked) =>
    Response.json({ signInAt: blocked.loginUrl }, { status: 401 }),
});
// #endregion

const reports = required(() => new Response("passed"));
export const app = async (request: Request) => (await auth.fetch(request)) ?? reports(request);
