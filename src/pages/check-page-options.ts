import { kindOf, quoted } from "../config/describe-value.js";
import { check } from "../config/findings.js";
import { nearestName } from "../config/nearest-name.js";
import type { Finding } from "../errors.js";
import { isColor } from "./colors.js";
import { isSafeAddress } from "./html.js";
import { isLanguage, LANGUAGES } from "./languages.js";
import { en } from "./locales/en.js";
import type { Message } from "./locales/message.js";
import { placeholdersOf, type MessageKey } from "./messages.js";
import type { PagesOptions } from "./page-options.js";
import { acceptablePicture } from "./picture.js";

const LANGUAGE_NAMES = Object.keys(LANGUAGES).join(", ");
const MAX_NAME_LENGTH = 100;
const PLURAL_CATEGORIES = ["zero", "one", "two", "few", "many", "other"];

/**
 * A finding for each mistake in the option `pages`. Pure; never throws, for any JSON-like input.
 */
export function pageFindings(pages: unknown): Finding[] {
  if (pages === undefined) return [];
  const findings = object(CHECKS)("pages", pages);
  if (findings.length > 0) return findings;
  const { logo, name } = pages as PagesOptions;
  const alt = typeof logo === "object" ? logo.alt : undefined;
  return logo !== undefined && (alt ?? name) === undefined
    ? [mistake("`pages.logo` has no `alt`, and `pages.name` isn't set.", ALT)]
    : [];
}

/** Something that the option `pages` can't have. */
function mistake(
  message: string,
  remedy = "Correct the property that the message names. docs/how-to/your-pages.md lists the properties and their values.",
): Finding {
  return check("E006", message, remedy);
}

const ALT = "Set `pages.name`, or the text of the image: `logo: { src, alt }`.";

type Check = (path: string, value: unknown) => Finding[];

/** The check of a single value. @param allowed ends the sentence "allowed: …" */
function value(allowed: string, isAllowed: (value: unknown) => boolean): Check {
  return (path, given) =>
    isAllowed(given)
      ? []
      : [mistake(`\`${path}\` is ${kindOf(given)}${shown(given)}; allowed: ${allowed}.`)];
}

function shown(given: unknown): string {
  const text = typeof given === "string" || typeof given === "number" ? quoted(given) : "";
  return text === "" ? "" : ` (${text})`;
}

const isText = (given: unknown, longest: number): boolean =>
  typeof given === "string" &&
  given.trim() !== "" &&
  given.length <= longest &&
  !/[\u0000-\u001f\u007f]/.test(given);
const size = value(
  "a whole number of CSS pixels, 1 to 1000",
  (given) => Number.isInteger(given) && Number(given) >= 1 && Number(given) <= 1000,
);
const source = value(
  "a path such as `/logo.svg`, or an https URL",
  (given) =>
    acceptablePicture(given) !== undefined ||
    (typeof given === "string" && given.startsWith("/") && isSafeAddress(given)),
);
const color = value("a color as `#rrggbb`", isColor);
const LOGO = object(
  { src: source, alt: value("a string", (text) => isText(text, 200)), width: size, height: size },
  ["src"],
);
const SCHEME_COLORS = { accent: color, background: color };

const LINES = object(
  Object.fromEntries(Object.keys(en).map((key) => [key, line(key as MessageKey)])),
);

const CHECKS: Readonly<Record<keyof PagesOptions, Check>> = {
  name: value(`a string of 1 to ${String(MAX_NAME_LENGTH)} characters on one line`, (given) =>
    isText(given, MAX_NAME_LENGTH),
  ),
  logo: (path, given) => (typeof given === "string" ? source : LOGO)(path, given),
  colors: object({ ...SCHEME_COLORS, dark: object(SCHEME_COLORS) }),
  homeHref: value(
    "a path such as `/`, or an http(s) URL",
    (given) => typeof given === "string" && given !== "" && isSafeAddress(given),
  ),
  locale: value(
    `auto, ${LANGUAGE_NAMES}`,
    (given) => given === "auto" || (typeof given === "string" && isLanguage(given)),
  ),
  messages: object(Object.fromEntries(Object.keys(LANGUAGES).map((language) => [language, LINES]))),
  render: value("a function", (given) => typeof given === "function"),
};

/** The check of an object whose members have a check each. Undefined members count as absent. */
function object(checks: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (path, given) => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      return [mistake(`\`${path}\` is ${kindOf(given)}; allowed: an object.`)];
    }
    const missing = required.filter((name) => !Object.hasOwn(given, name));
    return [
      ...missing.map((name) => mistake(`\`${path}.${name}\` is missing.`)),
      ...Object.entries(given).flatMap(([name, member]: [string, unknown]) => {
        if (Object.hasOwn(checks, name))
          return member === undefined ? [] : (checks[name]?.(`${path}.${name}`, member) ?? []);
        const near = nearestName(name, Object.keys(checks));
        return [
          check(
            "E010",
            `There is no option ${quoted(`${path}.${name}`)}.`,
            near && `Did you mean \`${near}\`?`,
          ),
        ];
      }),
    ];
  };
}

/**
 * The check of one line: text, or plural forms where the line has a `count`, with placeholders that
 * the line has.
 */
function line(key: MessageKey): Check {
  const english: Message = en[key];
  const isPlural = typeof english !== "string";
  const known = placeholdersOf(isPlural ? english.other : english);
  const text: Check = (path, given) => {
    if (typeof given !== "string" || given.trim() === "")
      return [mistake(`\`${path}\` is ${kindOf(given)}; allowed: a string.`)];
    const names = known.map((name) => `{${name}}`).join(", ");
    return placeholdersOf(given)
      .filter((name) => !known.includes(name))
      .map((name) =>
        mistake(
          `\`${path}\` has no placeholder {${name}}.`,
          names === "" ? "Remove the braces." : `Use ${names}.`,
        ),
      );
  };
  const forms = object(Object.fromEntries(PLURAL_CATEGORIES.map((category) => [category, text])), [
    "other",
  ]);
  return (path, given) => (isPlural && typeof given === "object" ? forms : text)(path, given);
}
