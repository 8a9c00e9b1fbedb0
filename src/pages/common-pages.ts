/**
 * What the pages of every application need, in one file: it loads after the start, and each file
 * costs about a millisecond.
 */
export { errorPage } from "./error-page.js";
export { landingPage } from "./landing-page.js";
export { otherUserPage } from "./other-user-page.js";
export { styleWith } from "./style.js";
