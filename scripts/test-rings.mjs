// Which tests each command runs. A test file that no list here names is in the ring "main", so each file is in exactly one ring.
//
// - unit: rules. They open no socket and start no process, which test/support/no-outside.ts enforces. `npm run test:unit`
// - main: what guards the guarantees, with real servers, processes and a browser. `npm test` runs the rings unit and main.
// - matrix: every adapter, frameworks with dependencies of their own, recipes, examples, load. `npm run test:matrix` runs all rings.
//
// An entry is a test file or a folder.

export const UNIT = [
  "test/access/slots.test.ts",
  "test/client",
  "test/config",
  "test/docs/generated.test.ts",
  "test/docs/single-page-applications.test.ts",
  "test/events",
  "test/fuzz/id-token.test.ts",
  "test/fuzz/provider-answers.test.ts",
  "test/fuzz/settings.test.ts",
  "test/guarantees",
  "test/http",
  "test/pages/error-page.test.ts",
  "test/pages/html.test.ts",
  "test/pages/index-page.test.ts",
  "test/pages/locales.test.ts",
  "test/pages/page-options.test.ts",
  "test/pages/pages.test.ts",
  "test/pages/picture.test.ts",
  "test/pages/shown-text.test.ts",
  "test/pages/sign-in-errors.test.ts",
  "test/pages/style.test.ts",
  "test/pages/texts.test.ts",
  "test/provider/token-responses.test.ts",
  "test/provider/back-off.test.ts",
  "test/provider/google.test.ts",
  "test/provider/identity.test.ts",
  "test/react/session-provider.test.ts",
  "test/record",
  "test/scripts/manifest.test.ts",
  "test/scripts/security-table.test.ts",
  "test/scripts/soak-verdict.test.ts",
  "test/scripts/test-rings.test.ts",
  "test/security/log-sampling.test.ts",
  "test/security/static.test.ts",
  "test/sessions/bundled.test.ts",
  "test/sessions/cookie.test.ts",
  "test/sessions/framework-session.test.ts",
  "test/sessions/seal.test.ts",
  "test/sessions/session-ends.test.ts",
  "test/testing/map-store.test.ts",
  "test/testing/test-clock.test.ts",
];

export const MATRIX = [
  // Every adapter against every requirement, except node:http, whose run of a few seconds is in the ring main; and the frameworks with
  // dependencies of their own.
  "test/adapters/conformance.express.test.ts",
  "test/adapters/conformance.fastify.test.ts",
  "test/adapters/conformance.fetch.test.ts",
  "test/adapters/conformance.hono.test.ts",
  "test/adapters/conformance.koa.test.ts",
  "test/adapters/conformance.nestjs.test.ts",
  "test/adapters/conformance.next.test.ts",
  "test/adapters/nestjs.test.ts",
  "test/adapters/next.test.ts",
  "test/browser/next.browser.test.ts",
  "test/browser/next-example.browser.test.ts",
  "test/browsers",
  "test/recipes",
  // The packed package, as an application outside this repository uses it.
  "test/examples",
  "test/docs/provider.test.ts",
  "test/docs/readme.test.ts",
  "test/docs/samples.test.ts",
  "test/docs/scaling.test.ts",
  // The demo, the command line and the project's scripts, in processes of their own.
  "test/cli/live-demo.test.ts",
  "test/cli/live-process.test.ts",
  "test/cli/live-store.test.ts",
  "test/cli/provider-process.test.ts",
  "test/demo",
  "test/scripts/framework-install.test.ts",
  "test/scripts/interop.test.ts",
  "test/scripts/start.test.ts",
  // The published test kit against broken stores and applications, in child processes too.
  "test/testing/check-store.test.ts",
  "test/testing/node-test.test.ts",
  "test/testing/test-adapter.test.ts",
  // Every state of every page, in a browser.
  "test/pages/pages.browser.test.ts",
  "test/pages/provider-pages.browser.test.ts",
  // The components of idpauth/react, and the compositions for Vue and Svelte, in a browser.
  "test/compositions",
  "test/react/hydration.browser.test.ts",
  "test/react/session-warning.browser.test.ts",
  "test/react/warning-looks.browser.test.ts",
  // Load, memory, and browser behaviour beyond signing in and out.
  "test/abandoned-logins.test.ts",
  "test/browser/addresses.browser.test.ts",
  "test/browser/app.browser.test.ts",
  "test/browser/ended-states.browser.test.ts",
  "test/browser/sessions-page.browser.test.ts",
  "test/security/load.test.ts",
  "test/security/memory.test.ts",
];

/** Files that take longer than 15 seconds. They start first, so that no core waits for one of them at the end. */
export const LONGEST = [
  "test/processes/processes.test.ts",
  "test/examples/examples.test.ts",
  "test/browser/app.browser.test.ts",
  "test/examples/spa-react.test.ts",
  "test/browsers/firefox.test.ts",
  "test/browsers/webkit.test.ts",
  "test/browser/ended-states.browser.test.ts",
  "test/browser/sign-in.browser.test.ts",
  "test/demo/fleet.test.ts",
  "test/demo/demo-sessions.test.ts",
  "test/demo/demo.test.ts",
  "test/demo/access.test.ts",
  "test/adapters/conformance.express.test.ts",
  "test/guarantees/interleavings.test.ts",
  "test/stores/redis-cluster.test.ts",
  "test/adapters/conformance.fastify.test.ts",
  "test/abandoned-logins.test.ts",
  "test/stores/redis-silence.test.ts",
  "test/stores/redis-outage.test.ts",
  "test/scripts/start.test.ts",
  "test/stores/postgres.test.ts",
  "test/adapters/conformance.next.test.ts",
  "test/pages/pages.browser.test.ts",
  "test/recipes/base-path.test.ts",
  "test/security/memory.test.ts",
  "test/adapters/conformance.nestjs.test.ts",
  "test/security/load.test.ts",
  "test/browser/sign-out.browser.test.ts",
  "test/adapters/next.test.ts",
  "test/cli/live-store.test.ts",
  "test/adapters/conformance.hono.test.ts",
];

/** Tests that read `dist/` or `build/`. They need `npm run build` after a change of a source. */
export const READS_BUILD = [
  "test/cli/live-process.test.ts",
  "test/cli/provider-process.test.ts",
  "test/access/refresh.test.ts",
  "test/docs/links.test.ts",
  "test/docs/provider.test.ts",
  "test/docs/readme.test.ts",
  "test/docs/samples.test.ts",
  "test/docs/scaling.test.ts",
  "test/browser/next-example.browser.test.ts",
  "test/examples",
  "test/processes",
  "test/recipes",
  "test/scripts/published.test.ts",
  "test/stores/sqlite.test.ts",
];

/**
 * @param {readonly string[]} entries
 * @returns {string[]} the entries' test files as patterns of vitest
 */
export function patterns(entries) {
  return entries.map((entry) => (isFile(entry) ? entry : `${entry}/**/*.test.ts`));
}

/**
 * @param {readonly string[]} entries
 * @param {string} file a path below the project's root, with slashes
 * @returns {boolean} whether an entry names the file or a folder that contains the file
 */
export function includes(entries, file) {
  return entries.some((entry) => (isFile(entry) ? file === entry : file.startsWith(`${entry}/`)));
}

/** @param {string} entry */
function isFile(entry) {
  return entry.endsWith(".test.ts");
}
