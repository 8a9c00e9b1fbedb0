// Writes the figures of site/diagrams as docs/diagrams/NAME.svg, and NAME-narrow.svg for phones.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { figures } from "../site/diagrams/index.mjs";
import { root } from "./run.mjs";

const folder = path.join(root, "docs/diagrams");
mkdirSync(folder, { recursive: true });
for (const { name, wide, narrow } of figures()) {
  writeFileSync(path.join(folder, `${name}.svg`), wide.svg);
  writeFileSync(path.join(folder, `${name}-narrow.svg`), narrow.svg);
}
