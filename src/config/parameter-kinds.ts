import { isPlainObject } from "../record/json.js";
import { prompt, type SettingKind } from "./setting-kinds.js";

/**
 * Parameters of an authorization request by name. A list is sent as a repeated parameter, such as
 * `resource` (RFC 8707).
 */
export type AuthorizationParams = Readonly<Record<string, string | readonly string[]>>;

/** RFC 6749 section 8.2. The length is our decision. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * The most values, and the most characters of all parameters as a query. Servers refuse requests
 * with long URLs.
 */
const MAX_VALUES = 50;
const MAX_QUERY_LENGTH = 4096;

/** The most names in `loginParams`. */
const MAX_NAMES = 20;

const FORM =
  `at most ${String(MAX_VALUES)} values and ${String(MAX_QUERY_LENGTH)} characters; each name consists of letters, digits, \`-\`, \`.\` and \`_\`; ` +
  "no value is empty or contains control characters";

/** A query string in the environment; in code an object whose values are text or lists of text. */
export const authorizationParams: SettingKind<AuthorizationParams> = {
  type: "parameters",
  allowed: `a query string such as \`audience=https%3A%2F%2Fapi.example.com&hd=example.com\`: ${FORM}`,
  allowedInCode: `an object whose values are strings or lists of strings: ${FORM}`,
  fromText: parametersIn,
  fromCode: (value) => (typeof value === "string" ? undefined : parametersIn(value)),
};

/** Names of parameters, each once. */
export const parameterNames: SettingKind<readonly string[]> = {
  type: "list",
  allowed: `at most ${String(MAX_NAMES)} parameter names of letters, digits, \`-\`, \`.\` and \`_\`, separated by spaces or commas`,
  allowedInCode: `a list of at most ${String(MAX_NAMES)} parameter names of letters, digits, \`-\`, \`.\` and \`_\``,
  fromText: (text) => namesIn(text.split(/[\s,]+/).filter((name) => name !== "")),
  fromCode: (value) =>
    Array.isArray(value) && value.length <= MAX_NAMES
      ? namesIn(Array.from<unknown>(value))
      : undefined,
};

function namesIn(items: readonly unknown[]): readonly string[] | undefined {
  const names = [...new Set(items.filter(isName))];
  return items.every(isName) && names.length <= MAX_NAMES ? names : undefined;
}

function isName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

function parametersIn(value: unknown): AuthorizationParams | undefined {
  const parameters = readParameters(value);
  return typeof parameters === "string" ? undefined : parameters;
}

/**
 * Returns which parameter of a refused value is wrong, without its name and value; undefined if the
 * mistake is in no single parameter.
 */
export function parameterMistake(value: unknown): string | undefined {
  const mistake = readParameters(value);
  return typeof mistake === "string"
    ? `${mistake} docs/reference/settings.md lists the allowed values.`
    : undefined;
}

/**
 * Returns the parameters, a sentence about the mistake in one of them, or undefined for any other
 * mistake.
 */
function readParameters(value: unknown): AuthorizationParams | string | undefined {
  const entries = typeof value === "string" ? entriesOfQuery(value) : entriesOfObject(value);
  if (entries === undefined) return undefined;
  const parameters: [name: string, value: string | readonly string[]][] = [];
  for (const [index, [name, given]] of entries.entries()) {
    // Without the name: a secret that was set here by mistake would be read as one.
    const which = `parameter ${String(index + 1)}`;
    if (!isName(name)) return `The name of ${which} isn't a valid parameter name.`;
    const read = name === "prompt" ? prompt.fromCode(given) : (textIn(given) ?? textsIn(given));
    if (read === undefined) {
      const allowed =
        name === "prompt"
          ? (prompt.allowedInCode ?? prompt.allowed)
          : "a string that isn't empty, without control characters";
      return `The value of ${name === "prompt" ? "`prompt`" : which} isn't allowed. Allowed: ${allowed}.`;
    }
    parameters.push([name, read]);
  }
  const pairs = parameters.flatMap(([name, values]) =>
    [values].flat().map((item) => [name, item] as [string, string]),
  );
  if (pairs.length > MAX_VALUES || new URLSearchParams(pairs).toString().length > MAX_QUERY_LENGTH)
    return undefined;
  // Not by assignment: the name may be `__proto__`.
  return Object.fromEntries(parameters);
}

type Entry = readonly [name: string, value: unknown];

function entriesOfQuery(text: string): readonly Entry[] | undefined {
  if (text.length > MAX_QUERY_LENGTH) return undefined;
  const query = new URLSearchParams(text);
  return [...new Set(query.keys())].map((name) => {
    const values = query.getAll(name);
    return [name, values.length === 1 ? values[0] : values];
  });
}

/**
 * Reads plain objects only: a Map or a URLSearchParams has no properties, and would count as empty.
 */
function entriesOfObject(value: unknown): readonly Entry[] | undefined {
  try {
    return isPlainObject(value) ? Object.entries(value) : undefined;
  } catch {
    // A getter or a proxy threw.
    return undefined;
  }
}

function textIn(value: unknown): string | undefined {
  const isText =
    typeof value === "string" &&
    value.length <= MAX_QUERY_LENGTH &&
    /\S/.test(value) &&
    !/\p{Cc}/u.test(value);
  return isText && value.isWellFormed() ? value : undefined;
}

function textsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_VALUES) return undefined;
  const texts = Array.from<unknown>(value).map(textIn);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}
