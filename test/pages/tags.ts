/** A start or end tag as it stands in the page; attributes unescaped. */
export interface Tag {
  readonly name: string;
  readonly end: boolean;
  readonly attributes: ReadonlyMap<string, string>;
}

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][a-zA-Z-]*="[^"<>]*")*)\s*\/?>/y;
const ATTRIBUTE = /([a-zA-Z][a-zA-Z-]*)="([^"]*)"/g;
const VOID = new Set(["meta", "link", "img", "input"]);

/**
 * Reads a page more strictly than a browser does: every attribute in double quotes, every other `<`
 * or `>` written as an entity, every element closed. Throws at the first place where a browser
 * might see something else than was meant.
 */
export function tagsOf(page: string): Tag[] {
  const doctype = "<!doctype html>";
  if (!page.startsWith(doctype)) throw new Error("The page does not begin with its doctype.");
  const tags: Tag[] = [];
  const open: string[] = [];
  let at = doctype.length;
  for (;;) {
    const next = page.slice(at).search(/[<>]/);
    const text = next < 0 ? page.slice(at) : page.slice(at, at + next);
    if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) throw new Error(`A bare ampersand in ${text}`);
    if (next < 0) break;
    TAG.lastIndex = at + next;
    const match = TAG.exec(page);
    if (match === null) throw new Error(`No tag of ours: ${page.slice(at + next, at + next + 80)}`);
    at = TAG.lastIndex;
    const [whole, slash, name = "", attributeText = ""] = match;
    const attributes = new Map<string, string>();
    for (const [, attribute = "", value = ""] of attributeText.matchAll(ATTRIBUTE)) {
      if (attributes.has(attribute))
        throw new Error(`The attribute ${attribute} stands twice in ${whole}`);
      attributes.set(attribute, unescape(value));
    }
    tags.push({ name, end: slash === "/", attributes });
    if (slash === "/") {
      if (open.pop() !== name) throw new Error(`${whole} closes nothing.`);
    } else if (!VOID.has(name) && !whole.endsWith("/>")) open.push(name);
  }
  if (open.length > 0) throw new Error(`Never closed: ${open.join(", ")}`);
  return tags;
}

/** The page's words as a reader sees them, white space folded. */
export function textOf(page: string): string {
  return unescape(page.slice(page.indexOf("<body>")).replace(/<[^>]*>/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}

function unescape(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
  };
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
