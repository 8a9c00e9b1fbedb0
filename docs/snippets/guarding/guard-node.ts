import { idpAuth } from "idpauth/node";

const auth = idpAuth();

// #region guard
export const reports = auth.idpRequired(async (request, response) => {
  const { user } = await auth.requireSession(request);
  response.end(JSON.stringify({ hello: user.name }));
});
// #endregion

export const app = auth.listener(reports);
