import { auth } from "../../../lib/auth";

export const GET = auth.idpRequired(async (request) => {
  const credentials = await auth.getCredentials(request); // null: signed out a moment ago
  // For a call to an API of the provider: `await auth.getAccessToken()`, which is always fresh.
  return Response.json({ user: await auth.getUser(request), scopes: credentials?.scopes ?? [] });
});
