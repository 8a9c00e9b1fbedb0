import express from "express";

// #region render
import { idpAuth } from "idpauth/express";
import type { PageDescription } from "idpauth";

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escape = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

function errorPage({
  language,
  direction,
  title,
  heading,
  texts,
  action,
  stylesheet,
}: PageDescription): string {
  const link =
    action && `<p><a class="button" href="${escape(action.href)}">${escape(action.label)}</a></p>`;
  return `<!doctype html>
<html lang="${language}" dir="${direction}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<link rel="stylesheet" href="${escape(stylesheet)}">
<main class="card"><h1>${escape(heading)}</h1>${texts.map((text) => `<p>${escape(text)}</p>`).join("")}${link ?? ""}</main>
</html>`;
}

const auth = idpAuth({
  pages: { render: (page) => (page.kind === "error" ? errorPage(page) : undefined) },
});
// #endregion

export const app = express();
auth.mount(app);
