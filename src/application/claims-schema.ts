import { jsonCopy } from "../record/application-data.js";
import type { JsonObject } from "../record/json.js";

/** The part of the Standard Schema interface, version 1, that idpauth uses. */
export interface ClaimsSchema<Output> {
  /** As https://standardschema.dev specifies it. */
  readonly "~standard": {
    /** The version of the interface. */
    readonly version: 1;
    /** The library, such as `zod`. idpauth doesn't read it. */
    readonly vendor: string;
    /** Gets a copy of the verified claims. `issues`: it doesn't accept them. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Runs a schema on a copy of the claims.
 *
 * @returns the output, or the paths of the claims that the schema does not accept, safe to log
 * @throws TypeError the output is not a JSON object; and everything that the schema throws
 */
export async function runSchema(
  schema: ClaimsSchema<unknown>,
  claims: object,
): Promise<{ output: JsonObject } | { paths: string }> {
  const result = await schema["~standard"].validate(structuredClone({ ...claims }));
  if (result.issues !== undefined) return { paths: pathsOf(result.issues) };
  return { output: jsonCopy(result.value, "The output of the claims schema") };
}

const MAX_PATHS = 10;
const MAX_PATH_LENGTH = 100;

/**
 * The paths of the issues. Provider and user choose names inside claims, so every unusual character
 * is replaced.
 */
function pathsOf(issues: readonly SchemaIssue[]): string {
  const paths = issues.map(({ path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return (
      keys
        .join(".")
        .slice(0, MAX_PATH_LENGTH)
        .replace(/[^\w.:/-]/g, "?") || "(all claims)"
    );
  });
  return [...new Set(paths)].slice(0, MAX_PATHS).join(", ");
}
