import { html, type Markup } from "./html.js";

// Decorative, so hidden from assistive technology.
const icon = (shape: Markup) =>
  html`<svg
    viewBox="0 0 24 24"
    width="24"
    height="24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.75"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    ${shape}
  </svg>`;

export const PERSON = icon(html`<circle cx="12" cy="8.5" r="3.75" /><path d="M4.75 19.75c.9-3.6 3.6-5.5 7.25-5.5s6.35 1.9 7.25 5.5" />`);
export const CLOCK = icon(html`<circle cx="12" cy="12" r="8.25" /><path d="M12 7.5V12l3 2" />`);
export const NOTICE = icon(html`<circle cx="12" cy="12" r="8.25" /><path d="M12 7.75v5" /><path d="M12 16.1v.05" />`);
export const PAUSE = icon(html`<circle cx="12" cy="12" r="8.25" /><path d="M10 9v6" /><path d="M14 9v6" />`);
