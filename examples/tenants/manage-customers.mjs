// @ts-check
// What the people who run the application do: `npm run customers -- add initech "Initech Inc."`
import { Customers } from "./customers.mjs";

const USAGE = `npm run customers -- add KEY NAME | remove KEY | restore KEY
KEY: at most 63 lowercase letters, digits and hyphens, starting with a letter. It can't be changed later.`;
const [command = "", key = "", ...words] = process.argv.slice(2);
const customers = new Customers("customers.db");
const isKnown = customers.get(key) !== undefined;

if (command === "add" && !isKnown && /^[a-z][a-z0-9-]{0,62}$/.test(key)) {
  const token = customers.add(key, words.join(" ") || key);
  const origin = process.env["BASE_URL"] ?? "http://localhost:3000";
  console.log(`Send this link to the customer's administrator: ${origin}/setup/${token}/`);
} else if (command === "remove" && isKnown) {
  // The source doesn't find the customer any more, so its users are signed out. Their sessions and
  // the customer's data are still there.
  customers.switchOff(key);
} else if (command === "restore" && isKnown) {
  customers.switchOn(key);
} else {
  console.error(USAGE);
  process.exitCode = 1;
}
customers.close();
