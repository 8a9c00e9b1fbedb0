// @ts-check
// What the people who run the application do: `npm run customers -- add initech "Initech Inc."`
import { Customers } from "./customers.mjs";

const USAGE = `npm run customers -- add KEY NAME | remove KEY | restore KEY
KEY: the subdomain. Lowercase letters, digits and single hyphens, starting with a letter. It can't be changed later.`;
const [command = "", key = "", ...words] = process.argv.slice(2);
const customers = new Customers("customers.db");
const isKnown = customers.get(key) !== undefined;

if (command === "add" && !isKnown && /^[a-z](-?[a-z0-9]){0,30}$/.test(key)) {
  const token = customers.add(key, words.join(" ") || key);
  const origin = process.env["APP_ORIGIN"] ?? "http://localhost:3000";
  const link = `${origin.replace("://", `://${key}.`)}/setup/${token}/`;
  console.log(`Send this link to the customer's administrator: ${link}`);
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
