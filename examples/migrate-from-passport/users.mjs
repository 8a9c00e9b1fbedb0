// The application's user table, in SQLite.
import { DatabaseSync } from "node:sqlite";

export const database = new DatabaseSync("shop.db");
database.exec(`create table if not exists users (
  id integer primary key, iss text, sub text, name text, email text, unique (iss, sub)
)`);

/** The row of a user, who gets one with the first sign-in. */
export function saveUser({ iss, sub, name, email }) {
  return database
    .prepare(
      `insert into users (iss, sub, name, email) values (?, ?, ?, ?)
       on conflict (iss, sub) do update set name = excluded.name, email = excluded.email
       returning id, name, email`,
    )
    .get(iss, sub, name ?? null, email ?? null);
}

export function findUser(id) {
  return database.prepare("select id, name, email from users where id = ?").get(id);
}
