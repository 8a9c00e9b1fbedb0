import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { SEARCH_OPTIONS } from "../../site/.vitepress/search.mjs";

export interface SearchIndex {
  search(query: string): readonly { readonly id: string }[];
}

interface MiniSearch {
  loadJSON(index: string, options: object): SearchIndex;
}

/** The index that the built site has, with the options that its pages search with. */
export async function searchIndexOf(dist: string): Promise<SearchIndex> {
  const chunks = path.join(dist, "assets/chunks");
  const [name = ""] = readdirSync(chunks).filter((file) => file.startsWith("@localSearchIndex"));
  const { default: index } = (await import(pathToFileURL(path.join(chunks, name)).href)) as {
    default: string;
  };
  const site = createRequire(path.join(dist, "../package.json"));
  return (site("minisearch") as MiniSearch).loadJSON(index, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: SEARCH_OPTIONS,
  });
}
