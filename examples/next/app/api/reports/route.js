import { auth } from "../../../lib/auth";

export const GET = auth.idpRequired(async (request) => {
  const credentials = await auth.getCredentials(request); // fresh; call the provider's APIs with credentials.token
  return Response.json({ user: await auth.getUser(request), scopes: credentials.scopes });
});
