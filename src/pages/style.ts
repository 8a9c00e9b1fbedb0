import { colorRules } from "./colors.js";
import type { PageColors } from "./page-options.js";

/**
 * The stylesheet of every page, served as a file: the Content-Security-Policy of the pages allows
 * no inline style.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #eef1f6;
  --card: #ffffff;
  --line: #d9dfe8;
  --edge: #8490a3;
  --text: #1a2230;
  --soft: #526074;
  --accent: #2553c8;
  --accent-strong: #1c439f;
  --on-accent: #ffffff;
  --tint: #e7edfb;
  --warn: #8a3b12;
  --warn-tint: #fdf1e7;
  --warn-line: #efcfb4;
}

@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1319;
    --card: #181e27;
    --line: #2d3643;
    --edge: #6a778b;
    --text: #e8ecf3;
    --soft: #a5b1c2;
    --accent: #9dbbff;
    --accent-strong: #bdd1ff;
    --on-accent: #0d1a36;
    --tint: #222d45;
    --warn: #ffc59b;
    --warn-tint: #2b2119;
    --warn-line: #57402e;
  }
}

*, *::before, *::after { box-sizing: border-box; }

html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }

body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  display: grid;
  grid-template-columns: minmax(0, 27rem);
  place-content: center;
  gap: 1.5rem;
  padding: 1.5rem 1rem;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}

.brand { justify-self: center; max-width: 100%; font-size: 1.125rem; font-weight: 650; text-align: center; }
.brand a { display: inline-block; padding: 0.25rem; color: inherit; text-decoration: none; }
.brand a:hover { color: inherit; text-decoration: underline; }
.brand img { display: block; max-width: 100%; max-height: 4rem; object-fit: contain; }

p, h1, dl, dd, ul { margin: 0; }

h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; font-weight: 650; text-wrap: balance; }

a { color: var(--accent); text-underline-offset: 0.2em; }
a:hover { color: var(--accent-strong); }

:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px; }

/* Letter-spacing breaks joined letters apart. */
:lang(ar) h1 { letter-spacing: 0; }
:lang(ja) h1 { word-break: auto-phrase; }

/* Names of settings and codes are read from left to right in every language. */
code { direction: ltr; unicode-bidi: isolate; font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }

svg { display: block; flex: none; }

.card {
  display: flex;
  flex-direction: column;
  align-items: center;
  gap: 0.875rem;
  padding: 2.25rem 1.75rem 1.75rem;
  text-align: center;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 1.125rem;
  box-shadow: 0 1px 2px rgb(16 24 40 / 0.05), 0 12px 32px -12px rgb(16 24 40 / 0.14);
}

.card > * { max-width: 100%; }
.card > p { color: var(--soft); text-wrap: pretty; }

.emblem, .avatar {
  width: 4.5rem;
  height: 4.5rem;
  border-radius: 50%;
  background: var(--tint);
  color: var(--accent);
}
.emblem, .initial, .avatar img::after { display: grid; place-items: center; }
.emblem svg { width: 2rem; height: 2rem; }

.avatar { position: relative; flex: none; display: block; overflow: hidden; }
/* A picture that does not load becomes its initial: the pseudo-element exists only then. */
.initial, .avatar img, .avatar img::after { position: absolute; inset: 0; }
.initial, .avatar img::after {
  font-size: 1.875rem;
  line-height: 1;
  font-weight: 600;
}
.avatar img { width: 100%; height: 100%; object-fit: cover; }
.avatar img::after { content: attr(data-initial); background: var(--tint); }

.person { min-width: 0; max-width: 100%; overflow: hidden; }
.name { font-weight: 600; }
.email, .label { color: var(--soft); font-size: 0.9375rem; }

.card > .actions { width: 100%; margin-top: 0.5rem; }

button { font: inherit; cursor: pointer; }
button.button { width: 100%; }

.button {
  display: block;
  min-height: 2.875rem;
  padding: 0.625rem 1.25rem;
  border: 1px solid transparent;
  border-radius: 0.75rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-decoration: none;
}
.button:hover { background: var(--accent-strong); color: var(--on-accent); }
.button:focus-visible { border-radius: 0.75rem; }
.button.quiet { background: transparent; color: var(--text); border-color: var(--edge); }
.button.quiet:hover { background: var(--tint); color: var(--text); }

nav { width: 100%; }
.choices { display: grid; gap: 0.75rem; margin-top: 0.5rem; padding: 0; list-style: none; }
.choices a { position: relative; }
.choices a:has(img) { padding-inline: 3.25rem; }
.choices img { position: absolute; inset-block-start: 50%; inset-inline-start: 1rem; width: 1.5rem; height: 1.5rem; object-fit: contain; translate: 0 -50%; }
/* Hides the browser's sign of an icon that does not load. */
.choices img::after { content: ""; position: absolute; inset: 0; background: var(--card); }

.question { display: grid; gap: 0.5rem; width: 100%; margin-top: 0.5rem; text-align: start; }
.question label { font-weight: 600; }
.question input[type="email"] {
  width: 100%;
  min-height: 2.875rem;
  padding: 0.625rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.75rem;
  background: var(--card);
  color: var(--text);
  font: inherit;
}
/* An address is written from left to right, and begins where the text of the page does. */
[dir="rtl"] .question input { text-align: right; }
.question input:focus-visible { outline-offset: 1px; border-radius: 0.75rem; }
.question input[aria-invalid] { border-color: var(--warn); box-shadow: inset 0 0 0 1px var(--warn); }
.question .error { display: flex; gap: 0.5rem; color: var(--warn); font-size: 0.9375rem; }
.question .error svg { width: 1.25rem; height: 1.25rem; margin-top: 0.125rem; }
.question button { margin-top: 0.375rem; }

.others { width: 100%; margin-top: 0.75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.others h2 { margin: 0; color: var(--soft); font-size: 0.9375rem; font-weight: 400; }

.links {
  display: flex;
  flex-wrap: wrap;
  justify-content: center;
  gap: 0.25rem 1.25rem;
  padding: 0;
  list-style: none;
  font-size: 0.9375rem;
}
.links a { display: inline-block; padding: 0.375rem 0; }

.sessions { display: grid; gap: 0.75rem; width: 100%; text-align: start; }
.sessions > p { color: var(--soft); }
.sessions > ul { display: grid; padding: 0; list-style: none; }
.sessions li {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.25rem 1rem;
  padding: 0.875rem 0;
  border-top: 1px solid var(--line);
}
.sessions li > div { flex: 1 1 14rem; min-width: 0; }
.sessions li > a, .sessions .link { flex: none; padding: 0.375rem 0; }
.when time, .when span { white-space: nowrap; }
.when { color: var(--soft); font-size: 0.875rem; }
.here {
  display: inline-block;
  padding: 0 0.5rem;
  border: 1px solid transparent;
  border-radius: 0.5rem;
  background: var(--tint);
  color: var(--accent);
  font-size: 0.875rem;
  font-weight: 600;
}

.sessions .link { border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: 0.2em; }
.sessions .link:hover { color: var(--accent-strong); }

.card > .rule {
  width: 100%;
  padding: 0.75rem 1rem;
  border-radius: 0.75rem;
  background: var(--tint);
  color: var(--text);
  font-weight: 600;
}

.before {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  width: 100%;
  margin-top: 0.5rem;
  padding-top: 1.25rem;
  border-top: 1px solid var(--line);
  text-align: start;
  font-size: 0.9375rem;
}
.before .avatar { width: 2.5rem; height: 2.5rem; }
.before .initial, .before img::after { font-size: 1.0625rem; }
.before .initial svg { width: 1.375rem; height: 1.375rem; }
.before .person { flex: 1; }
.before .label { font-size: 0.8125rem; }
.before .name, .before .email { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; overflow: hidden; }
.before > a { flex: none; padding: 0.375rem 0; }

.notice {
  display: flex;
  gap: 0.75rem;
  margin-bottom: 1rem;
  padding: 0.875rem 1rem;
  border: 1px solid var(--warn-line);
  border-radius: 0.875rem;
  background: var(--warn-tint);
  color: var(--warn);
}

.options { width: 100%; display: grid; gap: 0.75rem; text-align: start; }
.options > div { display: flex; flex-wrap: wrap; gap: 0.375rem; padding: 0.75rem 0.875rem 0.875rem; border-radius: 0.75rem; background: var(--tint); }
.options dt { width: 100%; }
.options dt code { font-weight: 700; }
.options dd { padding: 0.0625rem 0.5rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--card); }

body:has(.debug) { grid-template-columns: minmax(0, 60rem); }
.debug { align-items: stretch; text-align: start; }
.debug h2 { margin: 1rem 0 0; font-size: 1.125rem; line-height: 1.25; }
.debug summary { padding: 0.375rem 0; cursor: pointer; font-weight: 600; }
.values > div { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.375rem 0; border-top: 1px solid var(--line); }
.values dt { flex: 0 0 20rem; max-width: 100%; color: var(--soft); }
.values dd { flex: 1 1 18rem; min-width: 0; }

.code { font-size: 0.8125rem; }
.code code { font-size: 1em; }
.card > .code { margin-top: 0.25rem; }

@media (max-width: 24rem) {
  .card { padding: 1.75rem 1.125rem 1.25rem; }
  .before { flex-wrap: wrap; }
  .before .person { flex-basis: calc(100% - 3.25rem); }
  .before > a { margin-inline-start: 3.25rem; }
}

@media (prefers-reduced-motion: no-preference) {
  .button, a { transition: background-color 0.15s ease, color 0.15s ease; }
}

@media (forced-colors: active) {
  .question input[aria-invalid] { border-width: 3px; }
  .card, .button, .notice, .avatar, .emblem, .here, .rule, .options > div { border: 1px solid; }
}

@media print {
  body { display: block; min-height: 0; background: none; }
  .card { border: 0; box-shadow: none; padding: 0; }
  .actions, nav, .before > a, .question, .others, .sessions button { display: none; }
}
`.trimStart();

/** Returns the stylesheet with the application's colors. */
export const styleWith = (colors: PageColors): string => STYLE + colorRules(colors);
