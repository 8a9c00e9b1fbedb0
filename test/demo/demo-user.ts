import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";

/** A line of the response to the race. */
interface RaceLine {
  readonly index?: number;
  readonly status?: number;
  readonly process?: string;
  readonly killed?: string;
  readonly tokenRequests?: number;
}

/** Signs in at a provider of the demo, as the first person that its page offers. */
export async function signedIn(
  origin: string,
  provider: "staff" | "customers",
): Promise<CookieBrowser> {
  const user = new CookieBrowser({ origin });
  const choice = await user.follow(`/idpauth/login/?provider=${provider}`);
  const address = /<a class="button quiet" href="([^"]+)"/.exec(choice.text)?.[1];
  if (address === undefined) throw new Error(`nobody can be chosen on ${choice.url.href}`);
  const back = await user.follow(address.replaceAll("&amp;", "&"));
  if (back.url.href !== `${origin}/`) throw new Error(`came back to ${back.url.href}`);
  return user;
}

/** Lets the tokens expire and sends 200 requests: the last status of each, and what else is told. */
export async function race(user: CookieBrowser, address: string) {
  const response = await user.get(address, { method: "POST" });
  const lines = response.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RaceLine);
  const last = new Map(lines.map((line) => [line.index, line]));
  return {
    succeeded: [...last.values()].filter(({ status }) => status === 200).length,
    processes: new Set(lines.flatMap(({ process }) => process ?? [])),
    killed: lines.find(({ killed }) => killed !== undefined)?.killed,
    tokenRequests: lines.at(-1)?.tokenRequests,
  };
}
