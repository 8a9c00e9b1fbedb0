/**
 * Returns the page after a logout. The browser follows `next` after the frames have loaded.
 * @param frames addresses to load
 */
export function signedOutPage(frames: readonly string[], next: string | undefined): string {
  const loaded = frames.map(
    (address) => `<iframe src="${escaped(address)}" title="Sign-out at the application"></iframe>`,
  );
  const link = next === undefined ? [] : [`<p><a href="${escaped(next)}">Continue</a></p>`];
  const refresh =
    next === undefined ? "" : `<meta http-equiv="refresh" content="0; url=${escaped(next)}">`;
  return page("You are signed out at the provider", [...loaded, ...link].join("\n"), refresh);
}

/** Returns the page for a logout request that the provider refuses. */
export function refusedLogoutPage(reason: string): string {
  return page("The provider cannot sign you out", `<p>${escaped(reason)}</p>`);
}

/** Returns the page whose form brings the response to the client (Form Post Response Mode). */
export function formPostPage(redirectUri: string, fields: URLSearchParams): string {
  const inputs = [...fields].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const form = `<form method="post" action="${escaped(redirectUri)}">
${inputs.join("\n")}
<button>Continue</button>
</form>
<script>document.forms[0].submit()</script>`;
  return page("You are signed in at the provider", form);
}

function page(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title>${head}</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
