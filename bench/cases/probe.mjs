// GET /idpauth/session, signed in, against the same JSON from a bare route and from express-session
// with a check by hand.
import { startChild } from "../children.mjs";
import { inWords, ratio, throughput } from "../rounds.mjs";
import { ratioRow } from "../report.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

export async function probe({ load, provider, settings }) {
  const [idpauth, bare, byHand] = await Promise.all([
    startChild("server.mjs", { kind: "idpauth", provider: clientOf(provider) }),
    startChild("server.mjs", { kind: "bare" }),
    startChild("server.mjs", { kind: "express-session" }),
  ]);
  try {
    const [port, barePort, byHandPort] = await Promise.all([
      idpauth.call("port"),
      bare.call("port"),
      byHand.call("port"),
    ]);
    const cookie = await signIn(`http://127.0.0.1:${port}`, provider);
    const signedIn = await fetch(`http://127.0.0.1:${byHandPort}/sign-in`);
    const byHandCookie = signedIn.headers.getSetCookie()[0].split(";", 1)[0];
    const targets = [
      { name: "probe", server: idpauth, port, path: "/idpauth/session", cookies: [cookie] },
      { name: "bare", server: bare, port: barePort, path: "/session" },
      {
        name: "by hand",
        server: byHand,
        port: byHandPort,
        path: "/session",
        cookies: [byHandCookie],
      },
    ];
    const measured = await throughput(load, targets, settings);
    const { values, cpu } = measured;
    return {
      values,
      cpu,
      rows: [
        ratioRow(
          "Express 5: the probe of a signed-in user / a bare route that sends the same JSON",
          ratio(values.probe, values.bare),
          { atLeast: 1 },
          inWords(measured, "probe", "bare"),
        ),
        ratioRow(
          "Express 5: express-session with a check by hand / that bare route",
          ratio(values["by hand"], values.bare),
          undefined,
          inWords(measured, "by hand", "bare"),
        ),
      ],
    };
  } finally {
    for (const child of [idpauth, bare, byHand]) child.stop();
  }
}
