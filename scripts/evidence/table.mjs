/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 * @returns {string} a table in Markdown
 */
export function table(head, rows) {
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`)
    .join("\n");
}
