// #region function
import { idpAuth } from "idpauth/express";
import { shops } from "./shops.js";

export const auth = idpAuth({
  async baseUrl(host) {
    const shop = await shops.byHost(host);
    return shop && `https://${shop.mainHost}`;
  },
});
// #endregion
