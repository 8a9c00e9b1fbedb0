/** In the colors of idpauth's own pages. They follow the page's `color-scheme`. */
export const WARNING_STYLE = `
:host {
--idpauth-card: light-dark(#fff, #181e27);
--idpauth-text: light-dark(#1a2230, #e8ecf3);
--idpauth-soft: light-dark(#526074, #a5b1c2);
--idpauth-edge: light-dark(#8490a3, #6a778b);
--idpauth-accent: light-dark(#2553c8, #9dbbff);
--idpauth-on-accent: light-dark(#fff, #0d1a36);
--idpauth-tint: light-dark(#e7edfb, #222d45);
}
* { box-sizing: border-box; margin: 0; }
.said { position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.panel {
inset: auto;
inset-block-end: max(1rem, env(safe-area-inset-bottom));
inset-inline-end: 1rem;
flex-wrap: wrap;
gap: 1rem;
align-items: center;
width: min(27rem, 100% - 2rem);
max-height: calc(100% - 2rem);
overflow: auto;
padding: 1.25rem;
border: 1px solid color-mix(in srgb, var(--idpauth-edge) 40%, transparent);
border-radius: 1.125rem;
background: var(--idpauth-card);
color: var(--idpauth-text);
box-shadow: 0 1rem 3rem -.5rem rgb(16 24 40 / .3);
font-size: 1rem;
line-height: 1.5;
overflow-wrap: anywhere;
text-align: start;
}
.panel:popover-open { display: flex; }
.time {
position: relative;
display: grid;
place-items: center;
width: 4rem;
height: 4rem;
border-radius: 50%;
background: conic-gradient(var(--idpauth-accent) calc(var(--left) * 1turn), var(--idpauth-tint) 0);
color: var(--idpauth-accent);
font-weight: 650;
font-variant-numeric: tabular-nums;
}
.time::before { content: ""; position: absolute; inset: .3125rem; border-radius: 50%; background: var(--idpauth-card); }
.left { position: relative; }
.lock { background: var(--idpauth-tint); }
.lock::before, .lock .left { position: absolute; inset: 1.0625rem 1.4375rem auto; height: 1.5rem; border: .1875rem solid; background: none; }
.lock .left { inset: 1.75rem 1.1875rem auto; height: 1.1875rem; border-radius: .25rem; background: currentColor; }
.heading { font-size: 1.125rem; font-weight: 650; line-height: 1.3; text-wrap: balance; }
.text { margin-top: .125rem; color: var(--idpauth-soft); text-wrap: pretty; }
.failure { font-weight: 600; }
.content { flex: 1 1 12rem; }
.actions { display: flex; flex: 1 0 100%; flex-wrap: wrap; gap: .75rem; }
button {
flex: auto;
min-height: 2.875rem;
padding: .5rem 1.25rem;
border: 1px solid var(--idpauth-edge);
border-radius: .75rem;
background: none;
color: inherit;
font: inherit;
font-weight: 600;
cursor: pointer;
}
button:hover { background: var(--idpauth-tint); }
.action { flex-grow: 4; border-color: transparent; background: var(--idpauth-accent); color: var(--idpauth-on-accent); }
.action:hover { background: color-mix(in srgb, var(--idpauth-accent) 80%, var(--idpauth-text)); }
:focus-visible { outline: 3px solid var(--idpauth-accent); outline-offset: 2px; }
@media (prefers-reduced-motion: no-preference) {
.panel { animation: rise .25s ease-out; }
@keyframes rise { from { opacity: 0; transform: translateY(1rem); } }
}
@media (forced-colors: active) { .time { border: 1px solid; } }
@media print { .panel { visibility: hidden; } }
`;
