import type { UserPayload } from "idpauth";
import { html, page } from "./html.js";

/** What the demo's application is about. */
export const REPORTS = [
  { title: "Visitors", period: "October", figure: 4812 },
  { title: "Orders", period: "October", figure: 367 },
  { title: "Returns", period: "October", figure: 21 },
] as const;

export function homePage(mountPath: string): string {
  const link = (path: string, text: string, explanation: string) => html`<li><a href="${path}">${text}</a><span>${explanation}</span></li>`;
  const body = html`<h1>The idpauth demo</h1>
    <p>This page is public. The next three are behind <code>idpRequired</code>: open one, choose a person, and you come back to it.</p>
    <ul class="links">
      ${[
        link("/reports", "Reports", "A page; it shows who is signed in."),
        link("/api/reports", "/api/reports", "The same as JSON; a script gets 401 instead of the way to the sign-in."),
        link("/api/userinfo", "/api/userinfo", "What the provider says about you, asked for with credentials.token."),
      ]}
    </ul>
    <h2>What the package brings</h2>
    <ul class="links">
      ${[
        link(mountPath, "Your account", "The landing page in each of its states."),
        link(`${mountPath}login/`, "Sign in", "Straight to the provider."),
        link(`${mountPath}session?details=true`, "Session", "The probe for single-page frontends."),
        link(`${mountPath}debug`, "Debug", "Session, policy and settings without a secret; in debug mode only."),
        link(`${mountPath}logout/`, "Sign out", "Revokes the token and ends the session."),
      ]}
    </ul>`;
  return page("The idpauth demo", body);
}

export function reportsPage(mountPath: string, user: UserPayload | null): string {
  const rows = REPORTS.map(
    ({ title, period, figure }) =>
      html`<tr>
        <td>${title}</td>
        <td>${period}</td>
        <td>${figure.toLocaleString("en")}</td>
      </tr>`,
  );
  const picture =
    user?.picture && /^https?:/i.test(user.picture) ? [html`<img src="${user.picture}" alt="" width="48" height="48" />`] : [];
  const body = html`<h1>Reports</h1>
    <div class="who">
      ${picture}
      <span>
        <span class="name">Signed in as ${user?.name ?? user?.email ?? "somebody without a name"}</span>
        <span class="mail">${user?.email ?? ""}</span>
      </span>
    </div>
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
    <div class="actions"><a class="button" href="${mountPath}logout/">Sign out</a> <a href="/">Home</a></div>`;
  return page("Reports", body);
}

export function messagePage(title: string, text: string): string {
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a href="/">Home</a></p>`;
  return page(title, body);
}
