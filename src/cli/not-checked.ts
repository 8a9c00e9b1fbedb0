/** What `idpauth check` cannot see. */
export const OPTIONS_IN_CODE =
  "Options in code (E010), which override the environment. --module=FILE checks them. Without it, ignore findings about settings that your code sets.";
export const MIDDLEWARE = "The session middleware (E002, W008).";
export const SESSIONS =
  "Where sessions are stored: the options `store` and `session` (E009, W005, W006).";
export const ROUTES =
  "Routes that are guarded in modules which --module doesn't import (E027, W016).";
export const SAME_STORE = "Whether the application uses the store in --store (E009, W005, W006).";
export const PROVIDER =
  "The identity provider, for example whether it accepts the client. --live checks it.";
export const SIGN_IN = "A sign-in, its ID tokens and its refreshes.";
export const BASE_URL = "Whether browsers reach the application.";
