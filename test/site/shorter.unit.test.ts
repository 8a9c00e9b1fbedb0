import { expect, it } from "vitest";
import { shorter } from "../../site/reference/shorter.mjs";

const page = (...lines: readonly string[]) => lines.join("\n\n");

it("a member has its heading, its signature and its text, without headings between them", () => {
  const typedoc = page(
    "### Options",
    "#### Extends",
    "- `Hidden`\n- [`Shown`](a.md#shown)",
    "#### Properties",
    "##### api?",
    "> `readonly` **api?**: `string`",
    "Its name.",
    "***",
    "### Other",
  );
  expect(shorter(typedoc, "koa")).toBe(
    page(
      "### Options",
      "Extends [`Shown`](a.md#shown).",
      "#### api?",
      "> **api?**: `string`",
      "Its name.",
      "### Other",
    ),
  );
});

it("a function's parameters are one line, or a table if they are described; its type isn't repeated", () => {
  const table = (cells: string) => `| Parameter | Type |${cells}`;
  const typedoc = page(
    "##### a()",
    "###### Parameters",
    `${table("")}\n| ------ | ------ |\n| \`x\` | \`A\` \\| \`B\` |\n| \`y\` | \`C\` |`,
    "###### Returns",
    "`string`",
    "the name",
    "###### Throws",
    "TypeError always",
    "##### b()",
    "###### Parameters",
    `${table(" Description |")}\n| ------ | ------ | ------ |\n| \`x\` | \`A\` | the first |`,
    "###### Returns",
    "`void`",
  );
  expect(shorter(`${typedoc}\n`, "koa").trimEnd()).toBe(
    page(
      "#### a()",
      "Parameters: `x`: `A` \\| `B`, `y`: `C`",
      "Returns: the name",
      "Throws: TypeError always",
      "#### b()",
      `${table(" Description |")}\n| ------ | ------ | ------ |\n| \`x\` | \`A\` | the first |`,
    ),
  );
});

it("members that are symbols are shown to authors of adapters alone", () => {
  const typedoc = page(
    "#### Methods",
    "##### \\[SETTLED\\]()",
    "Waits.",
    "##### start()",
    "Starts.",
  );
  expect(shorter(typedoc, "koa")).toBe(page("#### start()", "Starts."));
  expect(shorter(typedoc, "adapter-component")).toContain("SETTLED");
});

it("names that another entry exports are links", () => {
  const typedoc = page(
    "## References",
    "### A",
    "Re-exports [A](b.md#a)",
    "***",
    "### B",
    "Re-exports [B](b.md#b)\n",
  );
  expect(shorter(typedoc, "koa").trimEnd()).toBe("- [A](b.md#a)\n- [B](b.md#b)");
});
