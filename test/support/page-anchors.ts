/** A page without its code, in which brackets are no links and `#` begins no heading. */
export function prose(page: string): string {
  return page
    .replace(/^( *)(```+|~~~+).*?^\1\2$/gms, "")
    .replace(/(`+)(?!`).+?\1(?!`)/g, (code) => code.replace(/[[\]()<>]/g, ""));
}

/** The anchors that GitHub and npm give to a page's headings. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of prose(page).matchAll(/^ {0,3}#{1,6} +(.+?) *#*$/gm)) {
    const words = heading.replace(/\]\([^)]*\)/g, "]").toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
    let name = anchor;
    for (let again = 1; anchors.has(name); again += 1) name = `${anchor}-${String(again)}`;
    anchors.add(name);
  }
  return anchors;
}

/** The anchors of a page that hold everywhere: the site shows the headings of tabs as tabs. */
export function commonAnchorsOf(page: string): Set<string> {
  const site = anchorsOf(page.replace(/^<!-- tabs -->$.*?^<!-- \/tabs -->$/gms, ""));
  return new Set([...anchorsOf(page)].filter((anchor) => site.has(anchor)));
}
