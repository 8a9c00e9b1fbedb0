// A route behind idpRequired against the same route of the same application without it.
import { startChild } from "../children.mjs";
import { inWords, ratio, throughput } from "../rounds.mjs";
import { ratioRow } from "../report.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

export async function guard({ load, provider, settings }) {
  const server = await startChild("server.mjs", { kind: "idpauth", provider: clientOf(provider) });
  try {
    const port = await server.call("port");
    const cookies = [await signIn(`http://127.0.0.1:${port}`, provider)];
    const targets = [
      { name: "guarded", server, port, path: "/guarded", cookies },
      { name: "open", server, port, path: "/open", cookies },
    ];
    const measured = await throughput(load, targets, settings);
    const { values, cpu } = measured;
    const note = inWords(measured, "guarded", "open");
    return {
      values,
      cpu,
      rows: [
        ratioRow(
          "Express 5: a guarded route / the same route without the guard",
          ratio(values.guarded, values.open),
          { atLeast: 0.88 },
          note,
        ),
      ],
    };
  } finally {
    server.stop();
  }
}
