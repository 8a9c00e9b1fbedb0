/** A user who can sign in at the embedded provider, without a password. */
export interface Person {
  /** The subject (`sub`) and the name in the addresses of the provider's own pages. */
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  /** The claim `groups`. */
  readonly groups: readonly string[];
  /** Of the picture. */
  readonly colour: string;
}

export const PEOPLE: readonly Person[] = [
  {
    id: "ada",
    name: "Ada Lovelace",
    email: "ada@example.com",
    email_verified: true,
    groups: ["admin", "staff"],
    colour: "#7a3e9d",
  },
  {
    id: "grace",
    name: "Grace Hopper",
    email: "grace@example.com",
    email_verified: true,
    groups: ["staff"],
    colour: "#0b6654",
  },
  {
    id: "alan",
    name: "Alan Turing",
    email: "alan@example.com",
    email_verified: false,
    groups: [],
    colour: "#a4442a",
  },
];

/** The users of the second provider. */
export const CUSTOMERS: readonly Person[] = [
  {
    id: "mary",
    name: "Mary Somerville",
    email: "mary@example.net",
    email_verified: true,
    groups: [],
    colour: "#2a5d8f",
  },
  {
    id: "emmy",
    name: "Emmy Noether",
    email: "emmy@example.net",
    email_verified: true,
    groups: [],
    colour: "#8a4b08",
  },
];

/** The person's picture: their initials on their colour. */
export function picture(person: Person): string {
  const initials = person.name
    .split(" ")
    .map((word) => word.charAt(0))
    .join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="${initials}">
<rect width="96" height="96" fill="${person.colour}"/>
<text x="48" y="50" fill="#fff" font-family="system-ui, sans-serif" font-size="36" font-weight="600" text-anchor="middle" dominant-baseline="central">${initials}</text>
</svg>`;
}
