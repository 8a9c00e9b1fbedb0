import { idpAuth, keepPrivate } from "idpauth/fetch";

const auth = idpAuth();

/** @param {Request} _request */
const page = async (_request) => new Response("passed");

/** @param {Request} request */
export async function app(request) {
  const own = await auth.fetch(request);
  if (own !== undefined) return own;
  // #region keep-private
  const blocked = await auth.guard(request);
  return blocked ?? keepPrivate(await page(request));
  // #endregion
}
