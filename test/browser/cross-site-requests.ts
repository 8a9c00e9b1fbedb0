// The requests that a page can make without asking anybody: the corpus for auth.csrf in each
// browser.

/** A script that makes a request to an address from a page. */
export type Attempt = (url: string) => string;

export function form(type: string): Attempt {
  return (url) => `
    const made = Object.assign(document.createElement("form"), { method: "post", action: "${url}", enctype: "${type}" });
    made.append(Object.assign(document.createElement("input"), { name: "to", value: "mallory" }));
    document.body.append(made);
    made.submit();`;
}

export function send(options: object): Attempt {
  const init = { method: "POST", credentials: "include", ...options };
  return (url) => `return fetch("${url}", ${JSON.stringify(init)}).catch(() => undefined);`;
}

/** A page without an origin, in a frame. */
export const sandboxed: Attempt = (url) => `
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-forms allow-scripts");
    frame.srcdoc = '<form method="post" action="${url}"></form><script>document.forms[0].submit()</script>';
    document.body.append(frame);`;

export function element(tag: "img" | "script"): Attempt {
  return (url) =>
    `document.body.append(Object.assign(document.createElement("${tag}"), { src: "${url}" }));`;
}

export const POSTS: readonly (readonly [
  name: string,
  attempt: Attempt,
  type: string | undefined,
])[] = [
  ["a form", form("application/x-www-form-urlencoded"), "application/x-www-form-urlencoded"],
  ["a form with files", form("multipart/form-data"), "multipart/form-data"],
  ["a form of plain text", form("text/plain"), "text/plain"],
  ["fetch without a preflight", send({ mode: "no-cors", body: "{}" }), "text/plain"],
  [
    "fetch of a form",
    send({
      mode: "no-cors",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "to=x",
    }),
    "application/x-www-form-urlencoded",
  ],
  ["a beacon", (url) => `navigator.sendBeacon("${url}", "{}");`, "text/plain"],
];
