// Holds the write lock of an SQLite file until it is killed, or for some milliseconds, as any
// program may:
//   node sqlite-lock.mjs FILE MILLISECONDS
import { DatabaseSync } from "node:sqlite";

const [file = "", milliseconds = "0"] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec("BEGIN IMMEDIATE");
process.send?.("locked");
setTimeout(() => {
  database.exec("COMMIT");
  database.close();
  process.disconnect();
}, Number(milliseconds));
