import express from "express";
import { idpAuth } from "idpauth/express";
// #region proxy
import { EnvHttpProxyAgent, setGlobalDispatcher } from "undici";

// Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY, for every `fetch` in this process.
setGlobalDispatcher(new EnvHttpProxyAgent());
// #endregion

export const app = express();
const auth = idpAuth();
auth.mount(app);
