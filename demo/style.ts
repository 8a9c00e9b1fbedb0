/** Served as /demo.css by the application and by the embedded provider. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f5f1;
  --card: #ffffff;
  --line: #dedbd2;
  --text: #23211c;
  --soft: #5d594e;
  --accent: #0b6654;
  --on-accent: #ffffff;
  --tint: #e6f1ee;
  --ended: #a4442a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #141512;
    --card: #1d1f1b;
    --line: #373a33;
    --text: #ecebe6;
    --soft: #b0ada2;
    --accent: #7fd6c0;
    --on-accent: #08221c;
    --tint: #223029;
    --ended: #f2a48f;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0;
  padding: 2.5rem 1rem;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 40rem; margin: 0 auto; }
h1 { margin: 0 0 0.5rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.01em; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.0625rem; }
p { margin: 0 0 1rem; color: var(--soft); }
a { color: var(--accent); text-underline-offset: 0.2em; }
code { font: 0.9em ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 6px; }
.links, .people { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.625rem; }
.links li, .person, .who {
  display: block;
  padding: 0.875rem 1.125rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 0.875rem;
}
.links span { display: block; color: var(--soft); font-size: 0.9375rem; }
.who, .person { display: flex; align-items: center; gap: 0.875rem; }
.who { margin: 1.25rem 0; }
.who img, .person img { width: 3rem; height: 3rem; flex: none; border-radius: 50%; background: var(--tint); object-fit: cover; }
.name { display: block; font-weight: 600; }
.mail { display: block; color: var(--soft); font-size: 0.9375rem; }
.person { width: 100%; color: inherit; font: inherit; text-align: left; cursor: pointer; }
.person:hover { border-color: var(--accent); background: var(--tint); }
.quiet { margin-top: 1rem; padding: 0.5rem 0; border: 0; background: none; color: var(--accent); font: inherit; text-decoration: underline; text-underline-offset: 0.2em; cursor: pointer; }
.button { display: inline-block; padding: 0.625rem 1.125rem; border-radius: 0.625rem; background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none; }
button.button { border: 0; font: inherit; font-weight: 600; cursor: pointer; }
.field { flex: 1 1 10rem; min-width: 0; padding: 0.5625rem 0.75rem; border: 1px solid var(--soft); border-radius: 0.625rem; background: var(--card); color: inherit; font: inherit; }
pre { margin: 0; padding: 0.875rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.875rem; font: 0.875rem/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem 1.25rem; margin-top: 1.5rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.625rem 0.5rem; border-bottom: 1px solid var(--line); text-align: left; }
td:last-child, th:last-child { text-align: right; font-variant-numeric: tabular-nums; }
[hidden] { display: none !important; }
.cards { display: flex; flex-wrap: wrap; gap: 0.625rem; margin: 1.25rem 0; }
.card { flex: 1 1 12rem; display: grid; align-items: center; min-height: 5rem; padding: 0.875rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.875rem; }
.card.wide { flex: 2 1 16rem; }
.row { display: flex; align-items: center; gap: 0.75rem; }
.row img { width: 2.25rem; height: 2.25rem; flex: none; border-radius: 50%; background: var(--tint); object-fit: cover; }
.badge { display: inline-grid; place-items: center; flex: none; width: 2rem; height: 2rem; border-radius: 0.5rem; color: #fff; font-weight: 600; font-variant-numeric: tabular-nums; }
.badge.app-1 { background: #0b6654; }
.badge.app-2 { background: #7a3e9d; }
.badge.app-3 { background: #a4442a; }
.badge.none, .badge.out { background: var(--card); border: 2px dashed var(--soft); color: var(--soft); }
.badge.plain { border: 1px solid var(--line); color: var(--soft); }
.history { display: flex; flex-wrap: wrap; gap: 0.25rem; min-height: 1.75rem; margin: 0 0 0.625rem; padding: 0; list-style: none; }
.history .badge { width: 1.75rem; height: 1.75rem; font-size: 0.9375rem; }
.state { display: inline-flex; align-items: center; gap: 0.5rem; }
.state::before { content: ""; width: 0.625rem; height: 0.625rem; border-radius: 50%; background: var(--accent); }
.state.ended { color: var(--ended); font-weight: 600; }
.state.ended::before { background: none; border: 2px solid var(--ended); }
h2 + .actions, h2 + .actions + .actions { margin-top: 0.75rem; }
.actions .quiet { margin: 0; }
.live { margin-top: 1.5rem; }
.live p { margin: 0 0 0.25rem; }
.fleet { margin: 0; padding: 0; list-style: none; }
.fleet li { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 1rem; padding: 0.625rem 0; border-top: 1px solid var(--line); }
.fleet .row { flex: 1 1 16rem; }
.fleet .state { width: 6rem; }
.fleet .command { min-width: 9rem; font-variant-numeric: tabular-nums; }
`;
