// #region check
import express from "express";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

const app = express();
const keys = createRemoteJWKSet(new URL(process.env.JWKS_URI ?? "")); // `jwks_uri` of the provider
const rules = {
  issuer: process.env.IDP_ISSUER ?? "",
  audience: "https://orders.example.com", // without it, tokens for other APIs would pass
  typ: "at+jwt", // an ID token isn't an access token
  algorithms: ["RS256", "PS256", "ES256"],
  requiredClaims: ["exp", "sub"],
};
const NO_KEYS = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"];

/** @type {import("express").RequestHandler} */
async function checkToken(req, res, next) {
  const [, token] = /^Bearer (\S+)$/i.exec(req.headers.authorization ?? "") ?? [];
  if (token === undefined) return res.status(401).set("WWW-Authenticate", "Bearer").end();
  try {
    const { payload } = await jwtVerify(token, keys, rules);
    res.locals.token = payload;
  } catch (error) {
    if (!(error instanceof errors.JOSEError) || NO_KEYS.includes(error.code))
      return res.status(503).json({ error: "keys_unavailable" });
    console.warn(error.code, error.message); // for example, which claim is wrong
    return refuse(res, 401, "invalid_token");
  }
  const scopes = String(res.locals.token.scope ?? "").split(" ");
  return scopes.includes("orders") ? next() : refuse(res, 403, "insufficient_scope");
}

/** @type {(res: import("express").Response, status: number, error: string, more?: string) => void} */
function refuse(res, status, error, more = "") {
  res.set("WWW-Authenticate", `Bearer error="${error}"${more}`).status(status).json({ error });
}

app.use(checkToken);
app.get("/orders", (_req, res) => res.json({ ordersOf: res.locals.token.sub }));
// #endregion

// #region step-up
app.post("/payments", (_req, res) => {
  const seconds = Date.now() / 1000 - (res.locals.token.auth_time ?? 0);
  return seconds > 300
    ? refuse(res, 401, "insufficient_user_authentication", ', max_age="300"')
    : res.json({ paid: true });
});
// #endregion

// #region check

app.listen(process.env.PORT ?? 4000);
// #endregion
