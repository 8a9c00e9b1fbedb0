import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";
import { grammar } from "./scripts/eslint-rules.mjs";

/** docs/contributing/grammar.md */
const GRAMMAR_RULES = {
  "grammar/max-own-lines": ["error", 45],
  "grammar/sorted-imports": "error",
  "@typescript-eslint/max-params": ["error", { max: 3 }],
};
/**
 * The suites that we publish: a requirement is one function, however long, and its helpers take each
 * thing that the requirement varies.
 */
const REQUIREMENTS = {
  files: ["packages/idpauth-conformance/src/*/requirements/**", "src/testing/store/**"],
  rules: { "grammar/max-own-lines": "off", "@typescript-eslint/max-params": "off" },
};
const FORMS = [
  {
    selector: "ObjectExpression > SpreadElement > ObjectExpression",
    message:
      "Write the members themselves, each on its line: the spread of a literal only makes the object look shorter.",
  },
  {
    selector: "ArrayExpression > SpreadElement > ArrayExpression",
    message:
      "Write the elements themselves: the spread of a literal only makes the array look shorter.",
  },
  {
    selector:
      'TSTypeReference[typeName.name="ReturnType"] TSTypeQuery[exprName.name=/^create[A-Z]/]',
    message: "Declare the interface that the function returns.",
  },
];
/** What no code of ours may do, whatever the tests say. */
const INSECURE = [
  {
    selector: 'Property[key.name="rejectUnauthorized"]:not([value.value=true])',
    message: "Certificates are always checked.",
  },
  {
    selector: 'Property[key.name="checkServerIdentity"]',
    message: "Certificates are always checked.",
  },
  {
    selector: 'Property[key.name="redirect"][value.value="follow"]',
    message: "A redirect would lead a token to another host.",
  },
];

export default defineConfig(
  globalIgnores([
    "**/dist/",
    "build/",
    ".builds/",
    ".stryker-tmp/",
    "reports/",
    // test/examples/migrate-from-*.matrix.test.ts run them.
    "examples/migrate-from-auth-js/",
    "examples/migrate-from-express-openid-connect/",
    "examples/migrate-from-passport/",
    "examples/next/",
    "examples/next-two-providers/",
    // test/examples/testing.matrix.test.ts runs them.
    "examples/testing/cypress/",
    "examples/testing/jest/",
    // test/compositions/tsconfig.json checks them.
    "examples/svelte/",
    "examples/vue/",
    "test/compositions/application/",
    "examples/fastify-react/",
    "examples/spa-react/",
    // Chromium runs it, in test/demo/screen.matrix.test.ts.
    "demo/public/",
    // Chromium runs it, in test/examples/express-complete.matrix.test.ts.
    "examples/express-complete/public/",
    // Chromium runs it, in test/examples/several-services.matrix.test.ts.
    "examples/several-services/public/",
    // test/examples/migrate-from-auth-js.matrix.test.ts runs it.
    "test/examples/next-auth-4/application/",
    "test/recipes/*/application/",
    "test/recipes/*/build/",
  ]),
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/consistent-type-exports": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      // An interface without members gives another package's type a name of our own, which the
      // declarations of an application can use.
      "@typescript-eslint/no-empty-object-type": [
        "error",
        { allowInterfaces: "with-single-extends" },
      ],
      // A name with a leading underscore says that it is there to be left out.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      // A number in a sentence reads as itself.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `() => doIt()` is how a callback is written; the rule would only add braces.
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true, ignoreVoidOperator: true },
      ],
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      // A port's method gives a promise even where this one implementation has nothing to wait for.
      "@typescript-eslint/require-await": "off",
      // A module of NestJS is a class with nothing but its decorator.
      "@typescript-eslint/no-extraneous-class": ["error", { allowWithDecorator: true }],
      // A method without work is how a null implementation looks.
      "@typescript-eslint/no-empty-function": "off",
      // Asks for `!`, which no-non-null-assertion forbids.
      "@typescript-eslint/non-nullable-type-assertion-style": "off",
      // A factory gives an object of closures; taking one apart is safe, and how it is meant to be
      // used.
      "@typescript-eslint/unbound-method": "off",
      // Each took a sixth of the rules' time, and neither has found a mistake.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      // Cutting text by code points is what is meant; nobody here splits an emoji's family for
      // display.
      "@typescript-eslint/no-misused-spread": "off",
      // `a === undefined || a.b !== c` says what is meant; the chain hides which of the two it is.
      "@typescript-eslint/prefer-optional-chain": "off",
      // `||` on purpose where an empty string counts as missing.
      "@typescript-eslint/prefer-nullish-coalescing": [
        "error",
        { ignorePrimitives: { string: true, boolean: true } },
      ],
      // A type parameter used once can still be what ties a call together for the reader.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
    },
  },
  {
    files: ["src/**", "packages/*/src/**"],
    rules: { "no-restricted-syntax": ["error", ...FORMS] },
  },
  {
    // What an application runs.
    files: ["src/**"],
    ignores: ["src/cli/**", "src/testing/**"],
    rules: {
      "no-eval": "error",
      "no-restricted-syntax": ["error", ...FORMS, ...INSECURE],
      // Unguessable values come from `randomBytes`.
      "no-restricted-imports": [
        "error",
        {
          paths: [
            { name: "node:crypto", importNames: ["randomUUID", "webcrypto"] },
            { name: "node:vm" },
          ],
        },
      ],
      "no-restricted-properties": [
        "error",
        { object: "Math", property: "random", message: "Only pauses may be random in this way." },
      ],
    },
  },
  {
    // They spread pauses in time.
    files: [
      "src/access/lease.ts",
      "src/provider/client-signatures.ts",
      "src/provider/provider-connection.ts",
      "src/sessions/session-stream.ts",
      "src/stores/postgres/pool.ts",
      "src/stores/sqlite/writes.ts",
      "src/stores/sweep.ts",
      "src/work/slots.ts",
    ],
    rules: { "no-restricted-properties": "off" },
  },
  {
    // Names for tests of applications.
    files: ["src/sessions/sign-in-for-tests.ts"],
    rules: { "no-restricted-imports": "off" },
  },
  {
    // Requests to the provider follow no redirect: one file sends them. These send requests to the
    // application's APIs, and `src/tenants` sends those for the providers that customers enter.
    files: ["src/**"],
    ignores: [
      "src/adapters/**",
      "src/apis/**",
      "src/cli/**",
      "src/provider/certificates/**",
      "src/tenants/**",
      "src/testing/**",
    ],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["node:http", "node:https", "node:http2", "undici"], allowTypeImports: true },
          ],
        },
      ],
    },
  },
  { files: ["src/**", "packages/*/src/**"], plugins: { grammar }, rules: GRAMMAR_RULES },
  REQUIREMENTS,
  {
    // `idpauth/adapter` exports it, and loads where node:http may not exist.
    files: ["src/node-http/**"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: ["node:*"],
              allowTypeImports: true,
              message: "Take it from nodeClasses(), which loads it with the first response.",
            },
          ],
        },
      ],
    },
  },
  {
    files: ["src/**", "packages/*/src/**"],
    ignores: ["src/cli/**"],
    // The package writes through the log hook; only the command line owns its output.
    rules: { "no-console": "error" },
  },
  {
    // In a test, only a promise that nothing awaits hides a failure. The types of all tests took longer
    // than everything else.
    files: ["test/**"],
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-floating-promises": "error",
    },
  },
  {
    files: ["test/**", "scripts/**", "examples/**", "packages/*/src/adapter/requirements/**"],
    rules: {
      // A test or a script reads answers whose shape it is about to prove; a wrong guess fails it
      // anyway.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    // As applications write it: Node.js takes an async listener, and the examples stay short.
    files: ["examples/**"],
    rules: { "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }] },
  },
  {
    // What a page shows of a file is not all that the file declares.
    files: ["docs/snippets/**"],
    rules: { "@typescript-eslint/no-unused-vars": "off" },
  },
  {
    // Plain scripts outside the TypeScript project.
    files: [
      "*.js",
      "bench/**",
      "docs/snippets/**",
      "soak/**",
      "site/.vitepress/**",
      "site/reference/**",
    ],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { projectService: false } },
  },
);
