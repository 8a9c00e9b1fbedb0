import { idpAuth } from "idpauth/next";

// Settings come from the environment, when the server starts: SECRET_KEY, IDP_CLIENT_ID,
// IDP_CLIENT_SECRET, IDP_ISSUER, BASE_URL.
export const auth = idpAuth();
