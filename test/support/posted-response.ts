import type { TestUser } from "./application.js";

/** Headers of a form that another site's page posts: without the SameSite=Lax cookie. */
export const CROSS = { "sec-fetch-site": "cross-site", origin: "https://provider.example" };

/** Begins a login with `form_post`, and returns the form of the provider's page. */
export async function formFor(
  user: TestUser,
  login = "/idpauth/login/",
  host?: string,
): Promise<{ readonly path: string; readonly fields: Record<string, string> }> {
  const { location } = await user.get(login, host === undefined ? {} : { host });
  const url = new URL(location);
  if (url.searchParams.get("response_mode") !== "form_post")
    throw new Error(`The login doesn't request a form: ${location}`);
  const page = await (await fetch(url)).text();
  const action = /action="([^"]*)"/.exec(page)?.[1] ?? "";
  const fields = [...page.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  return {
    path: new URL(action).pathname,
    fields: Object.fromEntries(
      fields.map(([, name, value]) => [name ?? "", unescaped(value ?? "")]),
    ),
  };
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));
}
