/**
 * The name that Apple posts with the response to a user's first sign-in:
 * https://developer.apple.com/documentation/signinwithapple/incorporating-sign-in-with-apple-into-other-platforms.
 * It isn't signed: it is what the browser says.
 */
import type { SignInInput } from "../application/hooks.js";
import { isObject } from "../record/json.js";

/** The name, with null for a part that wasn't posted or isn't usable. */
export type PostedName = SignInInput["postedName"];

/** Characters of a part of the name. A longer part is left out. */
const MAX_PART_LENGTH = 100;

/** The member of Apple's JSON for each standard claim. */
const MEMBERS = { given_name: "firstName", family_name: "lastName" } as const;

/** Reads the name in the posted field `user`, which is JSON. Everything else in it is ignored. */
export function nameInForm(form: URLSearchParams): PostedName {
  let user: unknown;
  try {
    user = JSON.parse(form.get("user") ?? "");
  } catch {
    return null;
  }
  const name = isObject(user) ? user["name"] : undefined;
  return isObject(name) ? nameOf((part) => name[MEMBERS[part]]) : null;
}

/** Reads the name back from the response that was sealed. */
export function nameInResponse(response: URLSearchParams): PostedName {
  return nameOf((part) => response.get(part));
}

function nameOf(read: (part: keyof typeof MEMBERS) => unknown): PostedName {
  const name = { given_name: usable(read("given_name")), family_name: usable(read("family_name")) };
  return name.given_name === null && name.family_name === null ? null : name;
}

function usable(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" || text.length > MAX_PART_LENGTH || /\p{Cc}/u.test(text) ? null : text;
}
