import { expect, it } from "vitest";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { attacksOn, breachesBy, MARK, signedOut, signInAt } from "./hostile.js";
import { ORIGIN, type RunningRecipe } from "./recipe.js";

const { host } = new URL(ORIGIN);

/** Addresses of a page that a cache may take for those of a public file. */
function publicLooking(page: string): string[] {
  const suffixes = [
    "/x.css",
    "/x.js",
    ";x.css",
    "%2fx.css",
    "%00.css",
    "%3bx.css",
    "%23.css",
    ".css",
    "/..%2fx.css",
    "?x.css",
    "?.js",
    "/%0ax.css",
  ];
  return [
    page,
    `/${page}`,
    ...suffixes.map((suffix) => page + suffix),
    `/static/..%2f${page.slice(1)}`,
    `/assets/../${page.slice(1)}`,
  ];
}

/**
 * What signed-out users get by other requests is in {@link breachesBy}.
 * @param page shows {@link MARK} to a signed-in user's navigation
 */
export function attackRecipe(recipe: () => RunningRecipe, page: string): void {
  const send = (target: string, headers: Readonly<Record<string, string>>) => {
    const lines = Object.entries({
      host,
      "x-forwarded-proto": "https",
      ...headers,
      connection: "close",
    });
    return rawRequest(
      recipe().port,
      `GET ${target} HTTP/1.1\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n`,
    );
  };

  it("[ATT-8] a link to the page that ends like a public file, opened by a signed-in user, gives a cache in front nothing to store", async () => {
    const { cookie } = await signInAt(recipe(), page);
    const shown: string[] = [];
    for (const target of publicLooking(page)) {
      for (const kind of [
        { accept: "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
        { accept: "text/css,*/*;q=0.1", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "style" },
      ]) {
        const response = await send(target, { ...kind, cookie });
        if (!response.raw.includes(MARK)) continue;
        shown.push(target);
        expect(response.header("cache-control") ?? "none", target).toMatch(
          /^(?=.*\bprivate\b)(?=.*\bno-store\b)/,
        );
        expect(response.header("vary")?.toLowerCase() ?? "none", target).toContain("cookie");
      }
    }
    expect(shown).toContain(page);
  });

  it("[ATT-8] a stranger with a forged Host and forged forwarded headers moves neither the login nor the callback to another origin", async () => {
    const { provider, base } = recipe();
    const issuer = new URL(provider.issuer).origin;
    const forged = [
      { host: "evil.example" },
      { host: `evil.example:${String(recipe().port)}` },
      { "x-forwarded-host": "evil.example" },
      {
        forwarded: "host=evil.example;proto=http",
        "x-forwarded-proto": "http",
        "x-forwarded-port": "81",
        "x-forwarded-prefix": "//evil.example",
      },
      { host: "evil.example", "x-forwarded-host": host, origin: "https://evil.example" },
    ];
    for (const headers of forged) {
      for (const target of [`${base}/idpauth/login/`, page]) {
        const response = await send(target, {
          accept: "text/html",
          "sec-fetch-mode": "navigate",
          ...headers,
        });
        expect(response.raw).not.toContain(MARK);
        const location = response.header("location");
        if (location === undefined) {
          expect(response.status, `${target} ${JSON.stringify(headers)}`).toBeGreaterThanOrEqual(
            400,
          );
          continue;
        }
        const { origin, searchParams } = new URL(location, ORIGIN);
        expect([ORIGIN, issuer], `${target} ${JSON.stringify(headers)}: ${location}`).toContain(
          origin,
        );
        for (const name of ["redirect_uri", "origin_url"])
          expect(new URL(searchParams.get(name) ?? ORIGIN).origin, location).toBe(ORIGIN);
      }
    }
  });

  it("[ATT-8] a thief with the cookie of a session that was signed out reaches nothing, while another user's requests go through", async () => {
    const [ada, grace] = [await signInAt(recipe(), page), await signInAt(recipe(), page)];
    const { cookie } = ada;
    expect((await ada.navigate(page)).text).toContain(MARK);
    expect((await ada.get(`${recipe().base}/idpauth/logout/?response=json`)).status).toBe(200);
    const [breaches, ...pages] = await Promise.all([
      breachesBy(recipe(), attacksOn([page]), cookie),
      ...Array.from({ length: 20 }, () =>
        signedOut(recipe()).navigate(page, { headers: { cookie: grace.cookie } }),
      ),
    ]);
    // What ran meanwhile ran for the other user.
    expect(breaches.filter((breach) => breach.startsWith("served"))).toEqual([]);
    for (const { text } of pages) expect(text).toContain(MARK);
    expect(await breachesBy(recipe(), attacksOn([page]), cookie)).toEqual([]);
  });
}
