// #region mount
import { idpAuth } from "idpauth/fetch";

const auth = idpAuth();
auth.start();

export async function handle(request: Request): Promise<Response> {
  const own = await auth.fetch(request); // undefined if the request isn't for idpauth
  return own ?? new Response("Welcome.");
}
// #endregion

export { handle as app };
