import { en } from "../../src/pages/locales/en.js";
import type { SignInErrorCode } from "../../src/pages/index-page.js";

export type { SignInErrorCode };

/** The landing page's English sentence for each of the provider's error codes. */
export const SIGN_IN_ERRORS = Object.fromEntries(
  Object.entries(en).flatMap(([key, text]) => {
    const [group = "", code = ""] = key.split(".");
    return group === "signIn" && code !== "failed" ? [[code, text]] : [];
  }),
) as Readonly<Record<SignInErrorCode, string>>;
