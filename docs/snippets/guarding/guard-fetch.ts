import { idpAuth } from "idpauth/fetch";

const auth = idpAuth();

// #region guard
export const reports = auth.idpRequired(async (request) => {
  const { user } = await auth.requireSession(request);
  return Response.json({ hello: user.name });
});
// #endregion

export const app = async (request: Request) => (await auth.fetch(request)) ?? reports(request);
