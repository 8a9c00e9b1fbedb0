import { auth } from "../../../lib/auth";

export const GET = auth.idpRequired(async (request) => {
  const { user } = await auth.requireSession(request); // the session that the guard saw, never null
  // null: signed out a moment ago. For a call to an API: `auth.getAccessToken()`
  const credentials = await auth.getCredentials(request);
  return Response.json({ user, scopes: credentials?.scopes ?? [] });
});
