import { auth } from "./routes.mjs";

// #region test
import { signedInAs } from "idpauth/testing";

const stale = await signedInAs(
  auth,
  { email: "ada@example.com" },
  { authTime: Math.floor(Date.now() / 1000) - 3600 },
);
// 401
const response = await fetch("http://localhost:3000/transfer", { headers: { cookie: stale } });
// #endregion

export { response };
