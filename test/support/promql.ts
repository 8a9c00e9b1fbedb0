import { parser } from "@prometheus-io/lezer-promql";

interface Selector {
  readonly metric: string;
  readonly matchers: readonly {
    readonly label: string;
    readonly operator: string;
    readonly value: string;
  }[];
}

/** The selectors and the labels of a query, and whether it is PromQL. */
export function readQuery(query: string): {
  readonly isValid: boolean;
  selectors: Selector[];
  groups: string[];
} {
  const expression = query.replaceAll("$__rate_interval", "5m");
  const text = (node: { readonly from: number; readonly to: number }) =>
    expression.slice(node.from, node.to);
  let isValid = true;
  const selectors: { metric: string; matchers: Selector["matchers"][number][] }[] = [];
  const groups: string[] = [];
  parser.parse(expression).iterate({
    enter({ type, node }) {
      if (type.isError) isValid = false;
      if (type.name === "VectorSelector")
        selectors.push({ metric: text(node.firstChild ?? node), matchers: [] });
      if (type.name === "UnquotedLabelMatcher") {
        const [, label = "", operator = "", value = ""] =
          /^(\w+)([=!~]+)"(.*)"$/.exec(text(node)) ?? [];
        selectors.at(-1)?.matchers.push({ label, operator, value });
      }
      if (type.name === "LabelName" && node.parent?.name === "GroupingLabels")
        groups.push(text(node));
    },
  });
  return { isValid, selectors, groups };
}

export interface Series {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The series of a text in Prometheus's format. */
export function seriesOf(text: string): Series[] {
  return text.split("\n").flatMap((line) => {
    const [, metric = "", labels = ""] = /^(\w+)(?:\{(.*)\})? [\d.e+-]+$/.exec(line) ?? [];
    if (metric === "") return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    return [{ metric, labels: Object.fromEntries(pairs) as Record<string, string> }];
  });
}

/** The series that a selector finds. */
function found(all: readonly Series[], { metric, matchers }: Selector): Series[] {
  return all.filter(
    (series) =>
      series.metric === metric &&
      matchers.every(({ label, operator, value }) => {
        const actual = series.labels[label] ?? "";
        const isEqual = operator.includes("~")
          ? new RegExp(`^(?:${value})$`).test(actual)
          : actual === value;
        return operator.startsWith("!") ? !isEqual : isEqual;
      }),
  );
}

/** What is wrong with a query: it is no PromQL, or finds nothing, or groups by a label that isn't there. */
export function mistakesIn(query: string, all: readonly Series[]): string[] {
  const { isValid, selectors, groups } = readQuery(query);
  const series = selectors.flatMap((selector) => found(all, selector));
  return [
    ...(isValid && selectors.length > 0 ? [] : [`${query} is no PromQL`]),
    ...selectors
      .filter((one) => found(all, one).length === 0)
      .map(({ metric }) => `${query}: no ${metric}`),
    ...groups
      .filter((label) => !series.some(({ labels }) => label in labels))
      .map((label) => `${query}: no label ${label}`),
  ];
}
