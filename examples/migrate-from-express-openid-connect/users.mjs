// The application's user table, in a file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const FILE = "users.json";

/** The id of a user, who gets one at the first sign-in. */
export function userIdOf({ iss, sub }) {
  const users = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {};
  const id = (users[`${iss} ${sub}`] ??= Object.keys(users).length + 1);
  writeFileSync(FILE, JSON.stringify(users));
  return id;
}
