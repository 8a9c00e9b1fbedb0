/** The query parameters that a login reads itself. Every other one is the application's. */

interface LoginParameter {
  /** The page on which users choose a provider keeps it. */
  readonly survivesChooser: boolean;
  /** It asks for an authentication that a guard requires, so no setting may send it. */
  readonly isStepUp?: true;
}

/**
 * THE table, by name in lower case. `loginParams` must not list a name that is here: the login would
 * read it and send it to the provider, too. A parameter without a row isn't read at all.
 */
const LOGIN_PARAMETERS = {
  scheme: { survivesChooser: true },
  response: { survivesChooser: true },
  origin_url: { survivesChooser: true },
  target_link_uri: { survivesChooser: true },
  select_account: { survivesChooser: true },
  max_age: { survivesChooser: true, isStepUp: true },
  acr_values: { survivesChooser: true, isStepUp: true },
  api: { survivesChooser: true },
  // The choice replaces these two.
  provider: { survivesChooser: false },
  iss: { survivesChooser: false },
  // Whether the login came back from BASE_URL. The next login finds out itself.
  idp_hop: { survivesChooser: false },
  // The chooser adds it, because the click on its link comes from a page of ours.
  cross_site: { survivesChooser: false },
  // The proof that a form of our own page began the login. It counts for exactly its fields.
  form_proof: { survivesChooser: false },
  // Of the page on which a login in a window of its own ends.
  attempt: { survivesChooser: false },
} as const satisfies Readonly<Record<string, LoginParameter>>;

type LoginParameterName = keyof typeof LOGIN_PARAMETERS;

/** The names in the table. */
export const LOGIN_PARAMETER_NAMES = Object.keys(LOGIN_PARAMETERS) as LoginParameterName[];

const rowOf = (name: LoginParameterName): LoginParameter => LOGIN_PARAMETERS[name];

export const STEP_UP_PARAMETERS = LOGIN_PARAMETER_NAMES.filter((name) => rowOf(name).isStepUp);

/** Returns the parameters that a login keeps while the user chooses a provider. */
export function keptByChooser(query: URLSearchParams): [name: string, value: string][] {
  return LOGIN_PARAMETER_NAMES.filter((name) => rowOf(name).survivesChooser).flatMap((name) =>
    query.getAll(name).map((value): [string, string] => [name, value]),
  );
}

/** Returns the parameters of a query that have a row. */
export function ownParameters(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => Object.hasOwn(LOGIN_PARAMETERS, name)));
}
