// The login and consent application that Ory Hydra leaves to its operator: it asks for user name and
// password, for the consent, and whether to log out, and tells Hydra the decisions.
import { createServer } from "node:http";

/**
 * @typedef {object} Challenge what Hydra knows of a login, a consent or a logout, as far as it is used
 * @property {boolean} skip whether Hydra remembers the user, or the user's consent
 * @property {string} subject
 * @property {readonly string[]} requested_scope
 * @property {{ client_id: string }} client
 *
 * @typedef {{ page: string, status?: number } | { location: string }} Answer
 * @typedef {object} Visit
 * @property {Challenge} asked
 * @property {URLSearchParams | undefined} fields of the form, once it has been sent
 * @property {(body?: object) => Promise<Answer>} accept
 * @property {() => Promise<Answer>} reject
 */

export const PASSWORD = "correct horse";
/** Seconds for which Hydra remembers a user and a consent. */
const REMEMBER_SECONDS = 3600;

/** @type {Readonly<Record<string, Record<string, unknown>>>} the claims of each user's ID tokens */
const USERS = {
  ada: {
    email: "ada@example.com",
    email_verified: true,
    name: "Ada Lovelace",
    groups: ["admins"],
    roles: ["admin"],
  },
  grace: { email: "grace@example.com", email_verified: true, name: "Grace Hopper" },
};

/** @type {Readonly<Record<string, (visit: Visit) => Answer | Promise<Answer>>>} by kind */
const PAGES = { login, consent, logout };

/**
 * @param {{ port: number, call: import("./admin.mjs").Call }} options `call`: Hydra's admin API
 * @returns {Promise<{ end: () => Promise<void> }>}
 */
export async function startConsentApplication({ port, call }) {
  const server = createServer((request, response) => {
    void answerTo(request, call)
      .catch((/** @type {unknown} */ error) => ({ page: paragraph(String(error)), status: 500 }))
      .then((/** @type {Answer} */ answer) => {
        if ("location" in answer) response.writeHead(303, { location: answer.location }).end();
        else {
          response.writeHead(answer.status ?? 200, { "content-type": "text/html; charset=utf-8" });
          response.end(`<!doctype html><title>Sign-in</title>${answer.page}`);
        }
      });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined));
  });
  return {
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("./admin.mjs").Call} call
 * @returns {Promise<Answer>}
 */
async function answerTo(request, call) {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/error")
    return {
      page: paragraph(`${searchParams.get("error")}: ${searchParams.get("error_description")}`),
    };
  const kind = pathname.slice(1);
  const answer = PAGES[kind];
  // Hydra sends the browser here after a logout that no application asked for.
  if (answer === undefined) return { page: paragraph("You are signed out.") };
  const parameter = `${kind}_challenge`;
  const query = new URLSearchParams({ [parameter]: searchParams.get(parameter) ?? "" }).toString();
  const resource = `/admin/oauth2/auth/requests/${kind}`;
  const decide = async (/** @type {string} */ as, /** @type {object} */ body) => {
    const decided = await call("PUT", `${resource}/${as}?${query}`, body);
    return { location: String(decided?.redirect_to ?? "/") };
  };
  return answer({
    asked: await call("GET", `${resource}?${query}`),
    fields: request.method === "POST" ? await fieldsOf(request) : undefined,
    accept: (body = {}) => decide("accept", body),
    reject: () =>
      decide("reject", { error: "access_denied", error_description: "The user refused." }),
  });
}

/** @param {Visit} visit */
function login({ asked, fields, accept }) {
  const subject = asked.skip ? asked.subject : (fields?.get("user") ?? "");
  const isRight = Object.hasOwn(USERS, subject) && fields?.get("password") === PASSWORD;
  if (asked.skip) return accept({ subject });
  if (isRight) return accept({ subject, remember: true, remember_for: REMEMBER_SECONDS });
  const content = `${fields ? paragraph("The user name or the password is wrong.") : ""}
<label>User name <input name="user" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button>`;
  return { page: form("Sign in", content), status: fields ? 401 : 200 };
}

/** @param {Visit} visit */
function consent({ asked, fields, accept, reject }) {
  const { skip, subject, client, requested_scope: scopes } = asked;
  if (skip || fields?.get("decision") === "yes")
    return accept({
      grant_scope: scopes,
      remember: true,
      remember_for: REMEMBER_SECONDS,
      session: { id_token: USERS[subject] },
    });
  if (fields !== undefined) return reject();
  const list = scopes.map((scope) => `<li>${escaped(scope)}</li>`).join("");
  const title = `May ${client.client_id} use your account?`;
  return { page: form(title, `<ul>${list}</ul>${buttons("Allow", "Deny")}`) };
}

/** @param {Visit} visit */
function logout({ asked, fields, accept, reject }) {
  if (fields === undefined)
    return { page: form(`Log out ${asked.subject}?`, buttons("Log out", "Stay signed in")) };
  return fields.get("decision") === "yes" ? accept() : reject();
}

/** @param {import("node:http").IncomingMessage} request */
async function fieldsOf(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
  return new URLSearchParams(body);
}

/**
 * A page with a form that is sent to the page's own address.
 *
 * @param {string} title
 * @param {string} content
 */
function form(title, content) {
  return `<h1>${escaped(title)}</h1><form method="post">${content}</form>`;
}

/**
 * @param {string} yes
 * @param {string} no
 */
function buttons(yes, no) {
  const button = (/** @type {string} */ value, /** @type {string} */ text) =>
    `<button name="decision" value="${value}">${text}</button>`;
  return `${button("yes", yes)} ${button("no", no)}`;
}

/** @param {string} text */
function paragraph(text) {
  return `<p>${escaped(text)}</p>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
