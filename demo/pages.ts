import type { Session, SessionUser } from "idpauth";
import { html, page, type Html } from "./html.js";
import type { DemoData } from "./sign-in-hook.js";

/** What the demo's application is about. */
export const REPORTS = [
  { title: "Visitors", period: "October", figure: 4812 },
  { title: "Orders", period: "October", figure: 367 },
  { title: "Returns", period: "October", figure: 21 },
] as const;

/**
 * @param hasOrders whether the orders API runs
 * @param provider the key of the session's provider, null without a session; undefined if the demo
 *   has one provider
 */
export function homePage(mountPath: string, hasOrders: boolean, provider?: string | null): string {
  const link = (path: string, text: string, explanation: string) =>
    html`<li><a href="${path}">${text}</a><span>${explanation}</span></li>`;
  const body = html`<h1>The idpauth demo</h1>
    <p>
      This page is public. The next three are behind <code>idpRequired</code>: open one, choose a
      person, and you come back to it.
    </p>
    <ul class="links">
      ${[
        link(
          "/reports",
          "Reports",
          "A page; it shows who is signed in, an event stream and a WebSocket.",
        ),
        link(
          "/api/reports",
          "/api/reports",
          "The same as JSON; a script gets 401 instead of the way to the sign-in.",
        ),
        link(
          "/api/stream",
          "/api/stream",
          "Events, until your session ends: end it at the provider and watch.",
        ),
        link(
          "/api/userinfo",
          "/api/userinfo",
          "What the provider says about you, asked for with credentials.token.",
        ),
      ]}
    </ul>
    <h2>In the browser</h2>
    <ul class="links">
      ${[link("/app/", "Single-page application", "A guarded list, a form that survives an expiry, the session warning, tabs and devices.")]}
    </ul>
    ${
      hasOrders
        ? html`<h2>An API behind the application</h2>
            <ul class="links">
              ${[link("/orders", "Orders", "A second process behind /api/orders/: calls, a refused token, a step-up, a stream and a WebSocket.")]}
            </ul>`
        : []
    }
    <h2>Guards that look closer</h2>
    <ul class="links">
      ${[
        link(
          "/admin",
          "Administration",
          "For the group admin only: sign in as Ada. The others get 403.",
        ),
        link(
          "/transfer",
          "Transfer",
          "For a recent sign-in only: after a minute it takes you to the provider again.",
        ),
        link("/api/me", "/api/me", "User, groups and the application's own data, without tokens."),
        link("/api/admin", "/api/admin", "Administration as JSON."),
        link(
          "/api/transfer",
          "/api/transfer",
          "Transfer as JSON; a script gets the 401 of RFC 9470.",
        ),
      ]}
    </ul>
    ${
      provider === undefined
        ? []
        : html`<h2>Two providers</h2>
            <p>
              ${provider === null ? "You are signed in at no provider." : html`You are signed in at the provider <code>${provider}</code>.`}
            </p>
            <ul class="links">
              ${[
                link(
                  "/payroll",
                  "Payroll",
                  "For users of the provider staff only. Others are sent to its sign-in.",
                ),
                link(
                  `${mountPath}login/?provider=customers`,
                  "Sign in as a customer",
                  "Straight to the provider customers, without the choice.",
                ),
              ]}
            </ul>`
    }
    <h2>What the package brings</h2>
    <ul class="links">
      ${[
        link(mountPath, "Your account", "The landing page in each of its states."),
        link(`${mountPath}login/`, "Sign in", "Straight to the provider."),
        link(`${mountPath}session?details=true`, "Session", "The probe for single-page frontends."),
        link(
          `${mountPath}debug`,
          "Debug",
          "Session, policy and settings without a secret; in debug mode only.",
        ),
        link(
          `${mountPath}sessions`,
          "Sessions",
          "Your devices; IDP_SESSIONS_PAGE turns the page on.",
        ),
        link(`${mountPath}logout/`, "Sign out", "Revokes the token and ends the session."),
      ]}
    </ul>`;
  return page("The idpauth demo", body);
}

export function reportsPage(mountPath: string, user: SessionUser): string {
  const rows = REPORTS.map(
    ({ title, period, figure }) =>
      html`<tr>
        <td>${title}</td>
        <td>${period}</td>
        <td>${figure.toLocaleString("en")}</td>
      </tr>`,
  );
  const body = html`<h1>Reports</h1>
    ${signedInAs(user)}
    <table>
      <thead>
        <tr>
          <th scope="col">Report</th>
          <th scope="col">Period</th>
          <th scope="col">Figure</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    <div class="actions">
      <a class="button" href="${mountPath}logout/">Sign out</a> <a href="/">Home</a>
    </div>
    <div class="live">
      <p id="stream" role="status">Event stream: connecting.</p>
      <p id="socket" role="status">WebSocket: none.</p>
    </div>`;
  return page("Reports", body, "/stream.js");
}

/** The page for administrators. */
export function adminPage({ user, claims, data }: Session<object, DemoData>): string {
  const rows = [
    ["Groups", groupsOf(claims).join(", ")],
    ["Your id in this application", data.userId ?? "none"],
    ["Visits", String(data.visits ?? 0)],
  ] as const;
  const body = html`<h1>Administration</h1>
    <p>You see this page because the claim <code>groups</code> contains <code>admin</code>.</p>
    ${signedInAs(user)} ${factTable(rows)} ${HOME}`;
  return page("Administration", body);
}

/** The page of a transaction that needs a recent authentication. */
export function transferPage({ user, claims }: Session, maxAge: number): string {
  const authTime = claims["auth_time"];
  const time =
    typeof authTime === "number"
      ? new Date(authTime * 1000).toISOString().slice(11, 19)
      : "unknown";
  const rows = [
    ["To", "Charles Babbage"],
    ["Amount", "£ 1,500.00"],
    ["Authenticated at", `${time} UTC`],
  ] as const;
  const body = html`<h1>Transfer</h1>
    <p>
      You see this page because you signed in at the provider in the last ${String(maxAge)} seconds.
      Later, it takes you there again.
    </p>
    ${signedInAs(user)} ${factTable(rows)} ${HOME}`;
  return page("Transfer", body);
}

/** The page for users of the provider `staff`. */
export function payrollPage({ user, provider = "" }: Session): string {
  const body = html`<h1>Payroll</h1>
    <p>You see this page because you signed in at the provider <code>${provider}</code>.</p>
    ${signedInAs(user)} ${HOME}`;
  return page("Payroll", body);
}

/** The claim `groups` as a list of texts. */
export function groupsOf({ groups }: Session["claims"]): readonly string[] {
  return Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [];
}

const HOME = html`<div class="actions"><a class="button" href="/">Home</a></div>`;

function factTable(rows: readonly (readonly [name: string, value: string])[]): Html {
  return html`<table>
    <tbody>
      ${rows.map(
        ([name, value]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${value}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function signedInAs(user: SessionUser): Html {
  const picture =
    user.picture && /^https?:/i.test(user.picture)
      ? [html`<img src="${user.picture}" alt="" width="48" height="48" />`]
      : [];
  return html`<div class="who">
    ${picture}
    <span>
      <span class="name">Signed in as ${user.name ?? user.email ?? "a user without a name"}</span>
      <span class="mail">${user.email ?? ""}</span>
    </span>
  </div>`;
}

export function messagePage(title: string, text: string): string {
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a href="/">Home</a></p>`;
  return page(title, body);
}
