import { single, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import type { Pages } from "../pages/pages.js";
import { failureReply } from "./failure-reply.js";

/** A query parameter whose value is none of its options. No response or log line repeats the value. */
export interface BadParameter {
  readonly name: string;
  /** Empty: any value that `reason` allows. */
  readonly options: readonly string[];
  /** Why, when it is not simply an unknown value. */
  readonly reason?: string;
}

/** The option that a query parameter chooses, in any letter case; the default if it is absent. An empty or repeated parameter is bad. */
export function choice<Option extends string>(
  query: URLSearchParams,
  name: string,
  options: readonly Option[],
  standard: Option,
): Option | BadParameter {
  const { value, repeated } = single(query, name);
  if (value === undefined) return standard;
  const chosen = repeated ? undefined : options.find((option) => option.toLowerCase() === value.toLowerCase());
  return chosen ?? { name, options };
}

/** The reply 400, with the valid options of every bad parameter. */
export function badParameters(bad: readonly BadParameter[], request: IdpRequest, pages: Pages): Reply {
  const sentences = bad.map(
    ({ name, options, reason }) => reason ?? `The parameter ${name} takes one of ${options.join(", ")}, and only once`,
  );
  const listed = bad.filter(({ options }) => options.length > 0);
  return failureReply(
    {
      code: "invalid_parameter",
      detail: `${sentences.join(". ")}.`,
      parameters: bad,
      ...(listed.length > 0 && { validOptions: Object.fromEntries(listed.map(({ name, options }) => [name, options])) }),
    },
    request,
    pages,
    "json",
  );
}
