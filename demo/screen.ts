/** The pages of the demo. They use the stylesheet of idpauth's own pages, and style.ts. */

/** No inline script and no inline style. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** @param app the origin of the application, whose stylesheet the provider's page uses */
export function policyOfProvider(app: string): string {
  return `default-src 'none'; style-src ${app}; base-uri 'none'; frame-ancestors 'none'`;
}

interface Card {
  readonly id: string;
  readonly title: string;
  /** The guarantee that it shows, in one sentence. */
  readonly text: string;
  /** Buttons and links, as HTML. */
  readonly actions: string;
  /** The live result, as HTML. */
  readonly result: string;
  /** The page that explains it, in the repository. */
  readonly guide: string;
}

const SIGN_IN: Card = {
  id: "sign-in",
  title: "Sign in",
  text: "Choose one of two providers. The server keeps the tokens. Your browser only gets a cookie that scripts can't read.",
  actions: `${button("sign-in", "Sign in")}${button("sign-out", "Sign out", "quiet")}`,
  result: `<dl>
<div><dt>User</dt><dd id="user">–</dd></div>
<div><dt>Provider</dt><dd id="provider">–</dd></div>
<div><dt>Signed in</dt><dd id="age">–</dd></div>
<div><dt>ID token</dt><dd id="token">–</dd></div>
<div><dt>Session ends</dt><dd id="end">–</dd></div>
<div><dt>Cookies that scripts see</dt><dd id="cookie">–</dd></div>
</dl>`,
  guide: "docs/how-to/several-providers.md",
};

const RACE: Card = {
  id: "race",
  title: "200 requests at once",
  text: "The demo's clock skips five minutes, so your token expires. 200 requests find that out at the same time. All of them succeed, and the provider gets one token request.",
  actions: button("race", "Expire the token, send 200 requests"),
  result: `<ol class="dots" aria-hidden="true"></ol>`,
  guide: "docs/explanation/guarantees.md",
};

const FLEET: Card = {
  id: "fleet",
  title: "Kill the process that refreshes",
  text: "Two processes share the sessions. If one dies in the middle of a refresh, the other one takes over.",
  actions: button("kill-race", "Expire the token, send 200 requests, kill the process"),
  result: `<ol class="dots" aria-hidden="true"></ol><ul class="processes"></ul>`,
  guide: "docs/explanation/failures.md",
};

const OTHERS: readonly Card[] = [
  {
    id: "outage",
    title: "An outage",
    text: "If the provider or the session store is down, requests get 503, but you stay signed in.",
    actions: `${button("provider-outage", "Stop the provider")}${button("store-outage", "Stop the session store", "quiet")}`,
    result: `<ol class="dots wide" aria-hidden="true"></ol>`,
    guide: "docs/explanation/failures.md",
  },
  {
    id: "step-up",
    title: "Sign in again to transfer",
    text: "A transfer requires a sign-in within the last minute. If yours is older, a window asks you to sign in again, and then the transfer continues.",
    actions: `${button("transfer", "Transfer €100")}${button("confirm", "Open the window", "quiet")}`,
    result: "",
    guide: "docs/how-to/step-up.md",
  },
  {
    id: "devices",
    title: "Your devices",
    text: "Users see where they're signed in, and can end any of their sessions.",
    actions: `<a class="button" href="/idpauth/sessions">Show your sessions</a>`,
    result: "",
    guide: "docs/how-to/signing-out.md",
  },
  {
    id: "orders",
    title: "An API behind the application",
    text: "The proxy adds your access token to each request, also to streams and sockets. When the session ends, it closes them.",
    actions: `${button("list", "List orders")}${button("connect", "Open a stream and a socket", "quiet")}`,
    result: `<ul class="orders"></ul>
<dl>
<div><dt>Stream</dt><dd id="stream">closed</dd></div>
<div><dt>WebSocket</dt><dd id="socket">closed</dd></div>
</dl>`,
    guide: "docs/how-to/proxy.md",
  },
  {
    id: "tabs",
    title: "Sign out in another tab",
    text: "Open a second tab, and sign out there. This page notices at once, and so do its stream and socket.",
    actions: `<a class="button" id="second-tab" href="/second-tab" target="_blank" rel="noopener">Open a second tab</a>`,
    result: "",
    guide: "docs/how-to/signing-out.md",
  },
];

/** @param hasFleet whether several processes run the application */
export function screen(hasFleet: boolean): string {
  const cards = [SIGN_IN, RACE, ...(hasFleet ? [FLEET] : []), ...OTHERS];
  return page(
    "idpauth demo",
    `<header class="top">
<h1>idpauth demo</h1>
<p class="status" role="status" data-state="loading">Checking who is signed in …</p>
<p class="lead">An Express app with two providers and an API, all of them on this machine. Sign in, then try the cards in order.</p>
</header>
<main>${cards.map(card).join("")}</main>`,
  );
}

function card({ id, title, text, actions, result, guide }: Card, index: number): string {
  const isFirst = id === SIGN_IN.id;
  return `<section class="card" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><span class="number" aria-hidden="true">${index + 1}</span>${title}</h2>
<p>${text}</p>
<div class="actions" ${isFirst ? "" : "inert"}>${actions}</div>
<div class="result">${isFirst ? "" : '<p class="first" hidden>Sign in first.</p>'}${result}<p class="outcome" role="status"></p></div>
<p class="guide">Read <code>${guide}</code></p>
</section>`;
}

function button(id: string, label: string, look = ""): string {
  return `<button class="button ${look}" type="button" id="${id}-button">${label}</button>`;
}

/** The page of the second tab. */
export function secondTab(): string {
  return page(
    "Second tab of the idpauth demo",
    `<main class="single"><section class="card">
<h1>The second tab</h1>
<p class="status" role="status" data-state="loading">Checking who is signed in …</p>
<p>Place the two windows side by side, sign out here, and watch the first one.</p>
<div class="actions">${button("sign-out", "Sign out")}</div>
</section></main>`,
  );
}

export interface Choice {
  readonly name: string;
  readonly email: string;
  readonly href: string;
}

/**
 * The provider's page, on which a user chooses a person.
 *
 * @param app the origin of the application
 */
export function choicePage(app: string, provider: string, choices: readonly Choice[]): string {
  const links = choices.map(
    ({ name, email, href }) =>
      `<li><a class="button quiet" href="${href.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"><span class="name">${name}</span><br><span class="email">${email}</span></a></li>`,
  );
  const body = `<main><section class="card">
<h1>Choose a person</h1>
<p>This is the sign-in page of the provider <code>${provider}</code>. It's for this demo, so it doesn't ask for a password.</p>
<nav aria-label="People"><ul class="choices">${links.join("")}</ul></nav>
</section></main>`;
  return documentOf(
    "Choose a person",
    `<link rel="stylesheet" href="${app}/idpauth/style.css">`,
    body,
  );
}

function page(title: string, body: string): string {
  const head = `<link rel="icon" href="/public/favicon.svg">
<link rel="stylesheet" href="/idpauth/style.css">
<link rel="stylesheet" href="/demo.css">
<script type="module" src="/public/demo.js"></script>`;
  return documentOf(title, head, `<div class="demo">${body}</div>`);
}

function documentOf(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}
