import { readFileSync } from "node:fs";
import path from "node:path";
import { createSearch, type Headings, type Texts } from "../../site/.vitepress/search.mjs";

/** The index that the built site's pages search in, with all of its parts. */
export function searchIndexOf(dist: string): ReturnType<typeof createSearch> {
  const read = (part: string): unknown =>
    JSON.parse(readFileSync(path.join(dist, `search/${part}.json`), "utf8"));
  const headings = read("headings") as Headings;
  const index = createSearch(headings);
  for (const part of headings.parts) index.add(read(part) as Texts);
  return index;
}
