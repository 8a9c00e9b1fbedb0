/** What the screen has besides the stylesheet of idpauth's own pages, /idpauth/style.css. */
export const STYLE = `
body:has(.demo) { display: block; padding: clamp(1rem, 3vw, 2.5rem); }
.demo { display: grid; gap: 1.5rem; max-width: 76rem; margin: 0 auto; }

.top { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem 1.5rem; }
.top h1 { font-size: 1.75rem; }
.lead { flex-basis: 100%; margin: 0; }

.status {
  display: flex;
  align-items: center;
  gap: 0.625rem;
  padding: 0.5rem 1rem;
  border: 1px solid var(--line);
  border-radius: 999px;
  background: var(--card);
}
.status::before { content: ""; flex: none; width: 0.75rem; height: 0.75rem; border: 2px solid var(--edge); border-radius: 50%; }
.status[data-state="signed-in"]::before { border-color: var(--good); background: var(--good); }
.status[data-state="unavailable"]::before { border-color: var(--bad); background: var(--bad); }

.demo {
  --good: #14804a;
  --other: #2553c8;
  --bad: #c2570c;
}
@media (prefers-color-scheme: dark) {
  .demo { --good: #5fd49a; --other: #9dbbff; --bad: #ffa061; }
}

.demo main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21.5rem), 1fr)); gap: 1.25rem; }
.demo main.single { grid-template-columns: minmax(0, 30rem); place-content: center; }
.demo .card { align-items: stretch; padding: 1.5rem; text-align: start; }
.demo h2 { display: flex; align-items: center; gap: 0.625rem; margin: 0; font-size: 1.125rem; line-height: 1.3; }
.number {
  display: grid;
  flex: none;
  place-items: center;
  width: 1.75rem;
  height: 1.75rem;
  border-radius: 50%;
  background: var(--tint);
  color: var(--accent);
  font-size: 0.9375rem;
}

.demo .card > .actions { display: flex; flex-wrap: wrap; gap: 0.625rem; margin: 0; }
.demo .button { flex: 1 1 auto; font: inherit; font-weight: 600; text-align: center; cursor: pointer; }
.demo [inert] .button, .demo .button[aria-disabled="true"] { opacity: 0.55; cursor: default; }
.result { display: grid; gap: 0.75rem; align-content: start; flex: 1; }
.outcome { padding: 0.625rem 0.875rem; border-radius: 0.75rem; background: var(--tint); color: var(--text); }
/* It stays in the layout, because screen readers miss the first text of a live region that appears with it. */
.outcome:empty { padding: 0; background: none; }
.guide { font-size: 0.8125rem; }
[hidden] { display: none !important; }

.demo dl { display: grid; font-variant-numeric: tabular-nums; }
.demo dl > div { display: flex; justify-content: space-between; gap: 1rem; padding: 0.375rem 0; border-top: 1px solid var(--line); }
.demo dl > div:first-child { border-top: 0; }
.demo dt { color: var(--soft); }
.demo dd { text-align: end; font-weight: 600; }
.demo dd.open { color: var(--good); }

.dots { display: grid; grid-template-columns: repeat(25, 1fr); gap: 0.1875rem; margin: 0; padding: 0; list-style: none; }
.dots.wide { display: flex; flex-wrap: wrap; gap: 0.375rem; min-height: 0.875rem; }
.dots li { aspect-ratio: 1; border: 1px solid var(--edge); border-radius: 50%; }
.dots.wide li { width: 0.875rem; }
.dots .ok { border-color: var(--good); background: var(--good); }
.dots .ok.second { border-color: var(--other); background: var(--other); }
.dots .wait { border-color: var(--bad); background: var(--bad); border-radius: 2px; }

.orders, .processes { display: grid; gap: 0.375rem; padding: 0; list-style: none; }
.orders:empty, .processes:empty { display: none; }
.orders li, .processes li { display: flex; align-items: center; justify-content: space-between; gap: 1rem; }
.processes span { font-variant-numeric: tabular-nums; }
.processes span::before { content: ""; display: inline-block; width: 0.75rem; height: 0.75rem; margin-inline-end: 0.5rem; border-radius: 50%; background: var(--good); }
.processes .second span::before { background: var(--other); }
.processes .ended span::before { border-radius: 2px; background: var(--bad); }

@media (min-width: 72rem) {
  #race, #orders { grid-column: span 2; }
  #fleet { grid-column: 1 / -1; }
  :is(#race, #fleet) .button { flex: 0 1 auto; }
  :is(#race, #fleet) .dots { grid-template-columns: repeat(50, 1fr); }
  /* Room for the usual result, so that the cards below don't move. */
  .result { min-height: 7.5rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .dots li { transition: background-color 0.2s ease; }
}
@media (forced-colors: active) {
  .dots .ok, .dots .wait, .status::before { forced-color-adjust: none; }
}
`;
