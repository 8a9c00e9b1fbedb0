import { expect, it } from "vitest";
import { narrowTable } from "../../scripts/narrow-table.mjs";

it("a table of setups names, for each requirement, the setups that meet it and those that don't", () => {
  const table = [
    "| Requirement | A | A, its own sessions | B | C |",
    "| --- | :-: | :-: | :-: | :-: |",
    "| login: met everywhere | yes | yes | yes | yes |",
    "| cookie: only with idpauth's sessions | yes |  | yes | yes |",
    "| host: only with the framework's | | yes | | |",
    "| proxy: two have no such feature | yes | yes | n/a | n/a |",
    "| logout: one fails | yes | yes | no | yes |",
    "| **Checks passed** | 4 of 4 | 4 of 4 | 2 of 4 | 3 of 4 |",
    "",
    "- n/a, B: a reason",
  ].join("\n");
  expect(narrowTable(table)).toBe(
    [
      "| Setup | Requirements met |",
      "| --- | --- |",
      "| A | 4 of 4 |",
      "| A, its own sessions | 4 of 4 |",
      "| B | 2 of 4 |",
      "| C | 3 of 4 |",
      "",
      "| Requirement | Setups that meet it |",
      "| --- | --- |",
      "| login: met everywhere | all 4 |",
      "| cookie: only with idpauth's sessions | all 3 with idpauth's sessions |",
      "| host: only with the framework's | all 1 with the framework's sessions |",
      "| proxy: two have no such feature | all 2; doesn't apply to B and C |",
      "| logout: one fails | all 3; **not by B** |",
      "",
      "- n/a, B: a reason",
    ].join("\n"),
  );
});
