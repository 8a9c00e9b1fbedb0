import { en } from "./locales/en.js";

type SignInKey = Extract<keyof typeof en, `signIn.${string}`>;

/**
 * The provider's error codes (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6) for which the landing page has a sentence, and
 * `provider_error` for any other. The page shows only these sentences: neither the provider's text nor a text in the URL.
 */
export type SignInErrorCode = Exclude<SignInKey extends `signIn.${infer Code}` ? Code : never, "failed">;

/** The code of a raw `error` parameter: itself if there is a sentence for it, else `provider_error`. */
export function signInErrorCode(raw: string): SignInErrorCode {
  return raw !== "failed" && Object.hasOwn(en, `signIn.${raw}`) ? (raw as SignInErrorCode) : "provider_error";
}
