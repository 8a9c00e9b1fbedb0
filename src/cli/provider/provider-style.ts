/** Returns the stylesheet of the component's pages, and of the list of people. */
export async function providerStyle(): Promise<string> {
  const { STYLE } = await import("../../pages/style.js");
  return STYLE + PEOPLE;
}

const PEOPLE = `
form { width: 100%; display: grid; gap: 1rem; margin: 0.5rem 0 0; }
.people { display: grid; gap: 0.625rem; padding: 0; list-style: none; }
.choice {
  display: flex;
  align-items: center;
  gap: 0.875rem;
  width: 100%;
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.75rem;
  background: transparent;
  color: inherit;
  font: inherit;
  text-align: start;
  cursor: pointer;
}
.choice:hover { background: var(--tint); }
.choice:focus-visible { border-radius: 0.75rem; }
.choice .avatar { width: 2.5rem; height: 2.5rem; }
.choice .initial { font-size: 1.0625rem; }
.choice .person > span { display: block; }
.choice .label { color: var(--accent); }
li.choice { flex-wrap: wrap; cursor: auto; }
li.choice:hover { background: transparent; }
li.choice .person { flex: 1 1 9rem; }
li.choice .button { flex: 1 1 auto; width: auto; }
.choice input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
.choice code { display: block; color: var(--soft); }
h2, h3 { width: 100%; margin: 0; font-size: 1.0625rem; text-align: start; }
h2 ~ h2 { margin-top: 0.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; }
.signed-in { display: flex; align-items: center; gap: 0.875rem; text-align: start; }
.signed-in .avatar { flex: none; width: 2.5rem; height: 2.5rem; }
.signed-in .initial { font-size: 1.0625rem; }
.signed-in .person > span { display: block; }
button.button { width: 100%; font: inherit; font-weight: 600; cursor: pointer; }
.card .facts { width: 100%; display: grid; gap: 0.125rem 1rem; text-align: start; }
.facts dt { color: var(--soft); font-size: 0.9375rem; }
.facts dd { margin: 0 0 0.625rem; }
@media (forced-colors: active) { .choice { border: 1px solid; } }
`;
