import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalRegistry {
  readonly url: string;
  /** How many requests have asked for the package. */
  asked(): number;
  stop(): Promise<void>;
}

/**
 * Starts a registry that has a single package, as if it were published, and that sends npm on to
 * another registry for all the others.
 *
 * @param tarball path of the packed package
 * @param others address of the registry that npm is configured with
 */
export async function startLocalRegistry(tarball: string, others: string): Promise<LocalRegistry> {
  const bytes = readFileSync(tarball);
  const text = execFileSync("tar", ["-xOf", tarball, "package/package.json"], { encoding: "utf8" });
  const manifest = JSON.parse(text) as { readonly name: string; readonly version: string };
  const { name, version } = manifest;
  let asked = 0;
  const server = createServer((request, response) => {
    const { url = "/" } = request;
    if (url === `/${name}`) asked += 1;
    if (url === `/${name}.tgz`) {
      response.end(bytes);
    } else if (url === `/${name}`) {
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const dist = { tarball: `${origin()}/${name}.tgz`, integrity };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          name,
          "dist-tags": { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    } else {
      response.writeHead(307, { location: new URL(url.slice(1), others).href }).end();
    }
  });
  const origin = () => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${origin()}/`,
    asked: () => asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
