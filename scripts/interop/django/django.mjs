// Runs a Django project with SQLite, whose provider is one of two apps from PyPI.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { seconds } from "../application/tab.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { pythonEnvironment } from "../python-environment.mjs";
import { PASSWORD } from "./pages.mjs";

/**
 * @typedef {object} Django
 * @property {string} issuer
 * @property {(...args: readonly string[]) => Promise<string>} manage Django's own command line
 * @property {(code: string) => Promise<string>} shell runs Python in the project
 * @property {() => Promise<number>} tokenRequests
 * @property {(user: string, isActive: boolean) => Promise<void>} setActive whether a user may sign in
 * @property {() => Promise<void>} stop
 * @property {(settings?: Record<string, unknown>) => Promise<void>} restart with other settings
 * @property {() => Promise<void>} end
 */

/** Until what Django logs has arrived. */
const LOG_SECONDS = 0.3;
const PROGRAM = path.join(import.meta.dirname, "project.py");

/** @param {string} name of the package */
export function environmentOf(name) {
  return pythonEnvironment({ name, title: name, folder: import.meta.dirname });
}

/**
 * @param {object} options
 * @param {string} options.folder
 * @param {() => Promise<string>} options.python
 * @param {"oauth2_provider" | "oidc_provider"} options.app
 * @param {(settings?: Record<string, unknown>) => Record<string, unknown>} options.settings Django's,
 *   from those that `restart` gets
 * @returns {Promise<Django>}
 */
export async function startDjango({ folder, python, app, settings }) {
  const command = await python();
  const port = await freePort();
  const secret = randomBytes(32).toString("base64url");
  const database = path.join(folder, "django.sqlite");
  /** @param {Record<string, unknown>} [changed] */
  const env = (changed) => ({
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONUNBUFFERED: "1",
    INTEROP: JSON.stringify({ app, database, secret, settings: settings(changed) }),
  });
  const manage = async (/** @type {readonly string[]} */ ...args) => {
    const options = { cwd: folder, env: { ...process.env, ...env() } };
    return (await promisify(execFile)(command, [PROGRAM, ...args], options)).stdout;
  };
  const shell = (/** @type {string} */ code) => manage("shell", "-v", "0", "-c", code);
  /** @param {Record<string, unknown>} [changed] */
  const serve = (changed) =>
    startProgram({
      command,
      args: [PROGRAM, "runserver", "--noreload", `127.0.0.1:${port}`],
      cwd: folder,
      env: env(changed),
      ready: /Quit the server with/,
    });
  console.log("Start: Django, with a new database");
  await manage("migrate", "-v", "0");
  await shell(NEW_USERS);
  let program = await serve();
  let earlierRequests = 0;
  return {
    issuer: `http://127.0.0.1:${port}/o`,
    manage,
    shell,
    // Its log doesn't tell the grant: between two readings without a sign-in, all are refreshes.
    async tokenRequests() {
      await seconds(LOG_SECONDS);
      return earlierRequests + tokenRequestsIn(program.output());
    },
    async setActive(user, isActive) {
      const value = isActive ? "True" : "False";
      await shell(
        `from django.contrib.auth.models import User; User.objects.filter(username="${user}").update(is_active=${value})`,
      );
    },
    stop: () => program.end(),
    async restart(changed) {
      earlierRequests += tokenRequestsIn(program.output());
      await program.end();
      program = await serve(changed);
    },
    end: () => program.end(),
  };
}

const NEW_USERS = `
from django.contrib.auth.models import Group, User
admins = Group.objects.create(name="admins")
for name, first, last in [("ada", "Ada", "Lovelace"), ("grace", "Grace", "Hopper")]:
    User.objects.create_user(
        name, f"{name}@example.com", "${PASSWORD}", first_name=first, last_name=last
    )
User.objects.get(username="ada").groups.add(admins)
`;

/** @param {string} output of the server */
function tokenRequestsIn(output) {
  return (output.match(/"POST \/o\/token\/? HTTP/g) ?? []).length;
}
