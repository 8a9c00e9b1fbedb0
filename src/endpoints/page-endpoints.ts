/** The endpoints of every application that respond with a page, in one file as common-pages.ts. */
export { landing } from "./landing-page.js";
export { popup, popupScript } from "./popup.js";
