import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { createClient, type ClientOptions } from "../../src/client/client.js";
import { pageClient } from "../../src/client/page-client.js";
import {
  openSocket,
  openStream,
  type ConnectionOptions,
} from "../../src/client/streams/streams.js";
import {
  ServerContent,
  type ServerContentProps,
  SessionProvider,
  useSession,
  type WarningProps,
} from "../../src/react/react.js";
import type { IdpauthWarning } from "../../src/client/warning/warning.js";
import { Browser } from "../client/browser.js";
import { ADA } from "../client/session-server.js";
import { Application } from "./page/application.js";

// Without a document, as a server has none. A new option doesn't compile without a row here.

type Values<Options> = {
  readonly [Name in keyof Required<Options>]: readonly Required<Options>[Name][];
};

const browser = new Browser();
browser.server.signIn(ADA, { idle: 600 });

const OPTIONS: Values<ClientOptions> = {
  mountPath: ["/auth/", "/localhost/idpauth/", "/127.0.0.1/"],
  initialState: [browser.server.details(), new Browser().server.details(), null],
  probeInterval: [1],
  trackActivity: [true, false],
  events: [true, false],
  whenSignedOut: ["wait", "navigate"],
  onUserChange: [() => undefined],
};

const CONNECTION_OPTIONS: Values<ConnectionOptions> = {
  client: [createClient()],
  closeWhenHidden: [true, false],
};

/** The element's own properties. */
type OwnProps = Omit<WarningProps, keyof React.HTMLAttributes<IdpauthWarning> | "ref" | "key">;

const WARNING_PROPS: Values<OwnProps> = {
  client: [createClient()],
  seconds: [60],
  provider: ["staff"],
  texts: [{ stay: "Stay" }],
};

const CONTENT_PROPS: Values<ServerContentProps> = {
  account: [ADA.account, null],
  refresh: [() => undefined],
  children: ["Ada's orders"],
};

/** Each value of each option, alone, and all of them at once. */
function rowsOf<Options extends object>(values: Values<Options>): [name: string, Options][] {
  const names = Object.keys(values) as (keyof Options & string)[];
  const each = names.flatMap((name) =>
    values[name].map((value): [string, Options] => [
      `${name}: ${typeof value === "object" ? "…" : String(value)}`,
      { [name]: value } as Options,
    ]),
  );
  const all = Object.fromEntries(names.map((name) => [name, values[name][0]])) as Options;
  return [["no option", {} as Options], ...each, ["all options", all]];
}

describe.each(Object.entries({ createClient, pageClient }))("on a server, %s", (_name, create) => {
  it.each(rowsOf(OPTIONS))("renders with %s, and requests nothing", async (_option, options) => {
    const fetch = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("requested"));
    const client = create(options);
    const status = options.initialState?.authenticated
      ? "signed-in"
      : options.initialState
        ? "signed-out"
        : "loading";
    expect(renderToString(createElement(Application, { client }))).toContain(`${status}: `);
    expect(await client.refresh()).toBe(client.getInitialState());
    expect(await client.keepAlive()).toBe(client.getInitialState());
    expect(await client.stepUp({ maxAge: 60 })).toBe("blocked");
    client.subscribe(() => undefined)();
    client.close();
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  });
});

it.each(rowsOf(CONNECTION_OPTIONS))(
  "a connection with %s opens nowhere on a server",
  (_name, options) => {
    const connections = [openStream("/api/stream", options), openSocket("/ws", [], options)];
    expect(connections.map(({ readyState }) => readyState)).toEqual([0, 0]);
    for (const connection of connections) connection.close();
  },
);

it.each(rowsOf(WARNING_PROPS))("<idpauth-warning> renders with %s", (_name, props) => {
  const html = renderToString(createElement("idpauth-warning", props));
  expect(html).toMatch(
    /^<idpauth-warning( seconds="60")?( provider="staff")?><\/idpauth-warning>$/,
  );
});

it.each(rowsOf(CONTENT_PROPS))("ServerContent renders with %s", (_name, props) => {
  const client = createClient({ initialState: browser.server.details() });
  const html = renderToString(
    createElement(
      SessionProvider,
      { client },
      createElement(
        ServerContent,
        Object.assign({ account: ADA.account, refresh: () => undefined }, props),
      ),
    ),
  );
  expect(html).toMatch(/^<div( style="display:none")?>/);
});

it("useSession gives the initial state", () => {
  const client = createClient({ initialState: browser.server.details(), trackActivity: true });
  const Name = () => useSession().user?.name;
  expect(renderToString(createElement(SessionProvider, { client }, createElement(Name)))).toBe(
    "Ada",
  );
});
