import type { UserPayload } from "idpauth";
import type { FleetProcess } from "./fleet-messages.js";
import { html, page, type Html } from "./html.js";

/** Who asks; or that nobody can tell now. */
export type FleetVisitor = { readonly user: UserPayload | null } | { readonly outage: string };

export interface FleetView {
  /** The process that makes this very page. */
  readonly answering: { readonly name: string; readonly pid: number };
  readonly visitor: FleetVisitor;
  readonly processes: readonly FleetProcess[];
  readonly mountPath: string;
}

/**
 * The front page of the fleet. What the script brings up to date has the attribute `data-live` and
 * an id; without the script the link "Ask again" does the same by loading the page.
 */
export function fleetPage(view: FleetView): string {
  const body = html`<h1>One sign-in, three processes</h1>
    <p>
      A load balancer gives each request to the next application process; the sessions lie in Redis.
      Kill whichever process you like: you stay signed in.
    </p>
    <div class="cards">
      <section class="card" id="answered" data-live aria-label="Who answered">
        ${answered(view)}
      </section>
      <section class="card wide" id="visitor" data-live role="status" aria-label="Who you are">
        ${visitor(view)}
      </section>
    </div>
    <p id="stream" role="status">Event stream: none.</p>
    <div class="actions">
      <a class="button" id="ask" href="/">Ask again</a>
      <button class="quiet" id="pause" type="button" hidden>Pause</button>
    </div>
    <section id="history" hidden>
      <h2>The last answers</h2>
      <ol class="history" id="answers" aria-hidden="true"></ol>
      <p id="tally"></p>
      <p id="note" role="status"></p>
    </section>
    <h2>The fleet</h2>
    <div id="fleet" data-live>${fleet(view.processes)}</div>
    <h2>Elsewhere in the demo</h2>
    <ul class="links">
      <li><a href="/reports">Reports</a><span>A guarded page; any process can show it.</span></li>
      <li>
        <a href="${view.mountPath}">Your account</a
        ><span>The landing page in each of its states.</span>
      </li>
      <li>
        <a href="${view.mountPath}debug">Debug</a
        ><span>Session, policy and settings without a secret.</span>
      </li>
    </ul>`;
  return page("The idpauth fleet", body, "/fleet.js");
}

function answered({ answering, visitor }: FleetView): Html {
  const state = "outage" in visitor ? "unknown" : visitor.user === null ? "out" : "in";
  return html`<div class="row" id="answer" data-name="${answering.name}" data-state="${state}">
    ${badge(answering.name)}
    <span
      ><span class="name">${answering.name} answered</span
      ><span class="mail">process ${String(answering.pid)}</span></span
    >
  </div>`;
}

function visitor({ visitor, mountPath }: FleetView): Html {
  if ("outage" in visitor) {
    const who =
      visitor.outage === "provider_unavailable"
        ? "The identity provider is away"
        : "The session store is away";
    return html`<span class="name">${who}</span>
      <span class="mail">Response 503. If you were signed in, you still are: wait a moment.</span>`;
  }
  const { user } = visitor;
  if (user === null)
    return html`<span class="name">You are not signed in</span
      ><span class="mail"><a href="/enter">Sign in</a> to see that it lasts.</span>`;
  const picture =
    user.picture && /^https?:/i.test(user.picture)
      ? [html`<img src="${user.picture}" alt="" width="36" height="36" />`]
      : [];
  return html`<div class="row">
    ${picture}
    <span>
      <span class="name">Signed in as ${user.name ?? user.email ?? "somebody without a name"}</span>
      <span class="mail"><a href="${mountPath}logout/">Sign out</a></span>
    </span>
  </div>`;
}

function fleet(processes: readonly FleetProcess[]): Html {
  const applications = processes.filter(({ name }) => isApplication(name));
  const running = applications.filter(({ isRunning }) => isRunning).length;
  const items = processes.map(
    ({ name, part, pid, isRunning }) =>
      html`<li>
        <span class="row"
          >${badge(name)}<span
            ><span class="name">${name}</span><span class="mail">${part}</span></span
          ></span
        >
        <span class="${isRunning ? "state" : "state ended"}"
          >${isRunning ? "running" : "ended"}</span
        >
        <span class="command"
          >${isRunning ? html`<code>kill -9 ${String(pid)}</code>` : "starts again soon"}</span
        >
      </li>`,
  );
  return html`<p role="status">
      ${String(running)} of ${String(applications.length)} application processes are running.
    </p>
    <p>
      Try a command in a terminal. What ends starts again after some seconds, as the console says.
    </p>
    <ul class="fleet">
      ${items}
    </ul>`;
}

function isApplication(name: string): boolean {
  return /^app-\d$/.test(name);
}

function badge(name: string): Html {
  const [kind, letter] = isApplication(name)
    ? [name, name.slice(-1)]
    : ["plain", name.charAt(0).toUpperCase()];
  return html`<span class="badge ${kind}" aria-hidden="true">${letter}</span>`;
}
