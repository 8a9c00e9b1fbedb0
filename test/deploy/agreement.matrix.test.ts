import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSettings, SETTINGS } from "../../src/config/read-settings.js";
import {
  compose,
  deployment,
  installed,
  MANIFESTS,
  read,
  ROOT,
  specOf,
  variables,
} from "./files.js";
import { filesSent } from "./image-build.js";

// The files on docs/deploy/containers.md agree with each other, with the application, with the
// settings, and with what docs/providers/keycloak.md says.

const text = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const page = text("docs/deploy/containers.md");
const server = read("server.mjs");
const dockerfile = read("Dockerfile");
/** What the application's code needs besides idpauth's settings. */
const OWN_VARIABLES = [...server.matchAll(/process\.env\.(\w+)/g)].map(([, name = ""]) => name);

/** Returns the only number that a pattern finds. */
function numberIn(source: string, pattern: RegExp): number {
  const found = [...source.matchAll(new RegExp(pattern, `g${pattern.flags}`))];
  expect(found.length, String(pattern)).toBe(1);
  return Number(found[0]?.[1]);
}

const port = numberIn(server, /process\.env\.PORT \?\? (\d+)/);
const closeTimeout = numberIn(server, /auth\.close\(\{ timeout: (\d+) \}\)/);

/** @returns the codes of the startup checks' findings */
const findings = (env: Readonly<Record<string, string>>) =>
  readSettings({}, env)
    .findings.map(({ code }) => code)
    .sort();

const KEY = "c29tZSByYW5kb20gYnl0ZXMgZm9yIHRoaXMgdGVzdA";

describe.skipIf(!installed)("the manifests", () => {
  const { selector, template } = deployment();
  const [container] = template.spec.containers;
  const service = specOf("Service") as {
    readonly selector: unknown;
    readonly ports: readonly [{ name: string; port: number; targetPort: string }];
  };
  const ingress = specOf("Ingress") as {
    readonly tls: readonly [{ hosts: string[]; secretName: string }];
    readonly rules: readonly [
      {
        readonly host: string;
        readonly http: { paths: [{ backend: { service: { name: string; port: unknown } } }] };
      },
    ];
  };
  const gateway = specOf("Gateway") as {
    readonly listeners: readonly [
      { readonly hostname: string; readonly tls: { certificateRefs: [{ name: string }] } },
    ];
  };
  const route = specOf("HTTPRoute") as {
    readonly parentRefs: unknown;
    readonly hostnames: unknown;
    readonly rules: unknown;
  };
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value] as const));

  it("select the pods of the Deployment", () => {
    const { labels } = template.metadata;
    const budget = specOf("PodDisruptionBudget") as { selector: unknown; maxUnavailable: number };
    expect(selector).toEqual({ matchLabels: labels });
    expect(service.selector).toEqual(labels);
    expect(budget.selector).toEqual({ matchLabels: labels });
    expect(budget.maxUnavailable).toBeLessThan(deployment().replicas);
  });

  it("lead from the Ingress and the Gateway through the Service to the application's port", () => {
    const [{ name, containerPort }] = container.ports;
    expect(containerPort).toBe(port);
    expect(numberIn(dockerfile, /^EXPOSE (\d+)$/m)).toBe(port);
    const [servicePort] = service.ports;
    expect(servicePort.targetPort).toBe(name);
    const [rule] = ingress.rules;
    expect(rule.http.paths[0].backend.service).toEqual({
      name: "app",
      port: { name: servicePort.name },
    });
    expect(route.rules).toEqual([{ backendRefs: [{ name: "app", port: servicePort.port }] }]);
    expect(route.parentRefs).toEqual([{ name: "app" }]);
  });

  it("use the hostname of BASE_URL, and one certificate", () => {
    const { hostname } = new URL(env["BASE_URL"] ?? "");
    const [listener] = gateway.listeners;
    const [{ hosts, secretName }] = ingress.tls;
    expect([ingress.rules[0].host, listener.hostname]).toEqual([hostname, hostname]);
    expect([hosts, route.hostnames]).toEqual([[hostname], [hostname]]);
    expect(listener.tls.certificateRefs).toEqual([{ name: secretName }]);
  });

  it("give the pod what the Pod Security Standard `restricted` requires", () => {
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("probe the application's own routes", () => {
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
      expect(server).toContain(`app.get("${httpGet.path}", `);
      expect(httpGet.port).toBe(container.ports[0].name);
    }
  });

  it("leave more time than `preStop` and `auth.close()` take", () => {
    const [program, seconds] = container.lifecycle.preStop.exec.command;
    expect(program).toBe("sleep");
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      Number(seconds) + Number(env["DRAIN_SECONDS"] ?? 0) + closeTimeout,
    );
    // Kubernetes' default for `periodSeconds` is 10.
    expect(container.livenessProbe.failureThreshold * 10).toBeGreaterThan(closeTimeout);
  });

  it("contain what the application needs, with the secret, under names that exist", () => {
    const secrets = variables("secrets.env");
    expect(page).toContain(
      `kubectl create secret generic ${container.envFrom[0].secretRef.name} --from-env-file=secrets.env`,
    );
    const known = [...Object.values(SETTINGS).map((row) => row.env), ...OWN_VARIABLES];
    expect(known).toEqual(expect.arrayContaining(Object.keys({ ...env, ...secrets })));
    expect(Object.keys(env).filter((name) => name in secrets)).toEqual([]);
    // The key of the page must not become one of a deployment.
    expect(findings({ ...env, ...secrets })).toContain("E013");
    expect(findings({ ...env, ...secrets, SECRET_KEY: KEY })).toEqual([]);
  });
});

/** Every timeout that the documentation and the examples give to `auth.close()`, with its file. */
function closeTimeouts(): (readonly [string, number])[] {
  return ["docs", "examples"].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:md|mjs|ts)$/.test(file) && !file.includes("node_modules"))
      .map((file) => path.join(folder, file))
      .flatMap((file) =>
        [...text(file).matchAll(/\bauth\.close\(\{ timeout: (\d+) \}\)/g)].map(
          ([, seconds]) => [file, Number(seconds)] as const,
        ),
      ),
  );
}

it("the application for Fastify has the variables, the port, the routes and the timeouts of the one for Express", () => {
  const facts = (source: string) => ({
    variables: [...source.matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name).sort(),
    port: numberIn(source, /process\.env\.PORT \?\? (\d+)/),
    routes: [...source.matchAll(/app\.get\("([^"]+)"/g)].map(([, route]) => route),
    keepAlive: numberIn(source, /keepAliveTimeout\W+(\d+)_000/),
    close: numberIn(source, /auth\.close\(\{ timeout: (\d+) \}\)/),
  });
  expect(facts(read("server-fastify.mjs"))).toEqual(facts(server));
});

it("pm2 waits longer than `auth.close()` does", () => {
  const production = text("docs/how-to/production.md");
  expect(numberIn(production, /set `kill_timeout` to (\d+) \(milliseconds\)/)).toBeGreaterThan(
    1000 * (closeTimeout + 2),
  );
});

it("every `auth.close()` in the documentation waits longer than a refresh takes", () => {
  const refresh = numberIn(
    text("docs/how-to/production.md"),
    /If the provider is slow, a refresh takes up to (\d+) seconds/,
  );
  const found = closeTimeouts();
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter(([, seconds]) => seconds <= refresh)).toEqual([]);
});

describe.skipIf(!installed)("the images", () => {
  it("have a version", () => {
    const manifests = MANIFESTS.flatMap((file) => [...read(file).matchAll(/image: (\S+)/g)]);
    const composed = [...read("compose.yaml").matchAll(/image: (\S+)/g)];
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)];
    const names = [...manifests, ...composed, ...bases].map(([, name = ""]) => name);
    expect(names.length).toBe(5);
    expect(names.filter((name) => !/:\d+\.\d+[\w.-]*$/.test(name))).toEqual([]);
    expect(new Set(bases.map(([, name]) => name)).size).toBe(1);
  });

  it("don't contain secrets or the machine's packages: an engine doesn't get these files", () => {
    const files = [".env", ".env.example", "secrets.env", "node_modules/express/index.js"];
    const inside = files.flatMap((file) => [file, `config/${file}`, `config/more/${file}`]);
    const wanted = ["package.json", "package-lock.json", "server.mjs", "config/settings.json"];
    expect(filesSent(read(".dockerignore"), [...inside, ".git/config", ...wanted])).toEqual(wanted);
  });
});

describe.skipIf(!installed)("compose.yaml", () => {
  const { app, keycloak, redis } = compose().services;
  const env = app.environment ?? {};
  const keycloakEnv = keycloak.environment ?? {};
  const realm = JSON.parse(read("realm.json")) as {
    readonly realm: string;
    readonly clients: readonly [
      { readonly clientId: string; readonly secret: string; readonly redirectUris: string[] },
    ];
  };
  const [client] = realm.clients;
  /** The port inside the container that this address leads to, for a browser on the machine. */
  const publishedAt = (ports: readonly string[] | undefined, origin: string) => {
    const { hostname, port: outside } = new URL(origin);
    expect(hostname).toBe("localhost");
    const found = ports?.find((one) => one.startsWith(`127.0.0.1:${outside}:`));
    return Number(found?.split(":")[2]);
  };
  const issuer = `${keycloakEnv["KC_HOSTNAME"] ?? ""}/realms/${realm.realm}`;
  const inside = `http://keycloak:8080/realms/${realm.realm}`;

  it("gives the application settings that exist, and only the warnings that the page names", () => {
    const known = [...Object.values(SETTINGS).map((row) => row.env), ...OWN_VARIABLES];
    expect(known).toEqual(expect.arrayContaining(Object.keys(env)));
    const found = findings({ ...env, SECRET_KEY: KEY, IDP_CLIENT_SECRET: "secret" });
    expect(found).toEqual(["W004", "W011"]);
    for (const code of found) expect(page).toContain(`[${code}](../reference/errors.md#`);
  });

  it("needs the variables of .env.example, and no others", () => {
    const needed = [...read("compose.yaml").matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name);
    const given = Object.keys(variables(".env.example"));
    expect([...new Set(needed)].sort()).toEqual(given.sort());
    expect(read("compose.yaml").match(/\$/g)?.length).toBe(needed.length);
    expect(findings({ ...env, ...variables(".env.example") })).toContain("E013");
  });

  it("publishes the application and Keycloak at the addresses that browsers get", () => {
    expect(publishedAt(app.ports, env["BASE_URL"] ?? "")).toBe(port);
    expect(publishedAt(keycloak.ports, env["IDP_ISSUER"] ?? "")).toBe(8080);
    expect(env["IDP_ISSUER"]).toBe(issuer);
    expect(client.redirectUris).toEqual([`${env["BASE_URL"] ?? ""}/idpauth/login-callback`]);
  });

  it("has the application reach Keycloak and Redis by their services' names", () => {
    expect(env["IDP_DISCOVERY_URL"]).toBe(`${inside}/.well-known/openid-configuration`);
    expect(JSON.parse(env["IDP_PROVIDER_METADATA"] ?? "")).toEqual({
      revocation_endpoint: `${inside}/protocol/openid-connect/revoke`,
    });
    expect(env["REDIS_URL"]).toBe("redis://redis:6379");
    expect(redis.ports).toBe(undefined);
  });

  it("gives Keycloak and the application one client", () => {
    expect(client.clientId).toBe(env["IDP_CLIENT_ID"]);
    const placeholders = [...read("realm.json").matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(placeholders).toEqual(["IDP_CLIENT_SECRET", "KEYCLOAK_PASSWORD"]);
    expect(Object.keys(keycloakEnv)).toEqual(expect.arrayContaining(placeholders));
    expect(keycloakEnv["IDP_CLIENT_SECRET"]).toBe(env["IDP_CLIENT_SECRET"]);
    const [file, target] = keycloak.volumes?.[0]?.split(":") ?? [];
    expect([file, target]).toEqual(["./realm.json", "/opt/keycloak/data/import/realm.json"]);
    expect(keycloak.command).toContain("--import-realm");
  });

  it("follows docs/providers/keycloak.md", () => {
    const guide = text("docs/providers/keycloak.md");
    const section = /^### Keycloak in a container network$.*?(?=^## )/ms.exec(guide)?.[0] ?? "";
    const options = [...section.matchAll(/`--([\w-]+)=([^`]+)`/g)].map(
      ([, name = "", value = ""]) => [`KC_${name.toUpperCase().replaceAll("-", "_")}`, value],
    );
    const wanted = Object.fromEntries(options) as Record<string, string>;
    expect(Object.keys(wanted)).toEqual([
      "KC_HOSTNAME",
      "KC_HOSTNAME_BACKCHANNEL_DYNAMIC",
      "KC_HTTP_ENABLED",
    ]);
    expect(keycloakEnv["KC_HOSTNAME_BACKCHANNEL_DYNAMIC"]).toBe(
      wanted["KC_HOSTNAME_BACKCHANNEL_DYNAMIC"],
    );
    // Development mode turns http on.
    expect(keycloak.command).toMatch(/^start-dev /);
    const inEnvFile = (value: string) => (value.includes('"') ? `'${value}'` : value);
    for (const name of ["IDP_DISCOVERY_URL", "IDP_PROVIDER_METADATA"])
      expect(section).toContain(
        `${name}=${inEnvFile(env[name]?.replace("realms/app", "realms/your-realm") ?? "")}\n`,
      );
    expect(guide).toContain(`SCOPE=${env["SCOPE"] ?? ""}\n`);
    const version = /:([\d.]+)$/.exec(keycloak.image ?? "")?.[1] ?? "";
    expect(guide).toContain(`idpauth was tested with Keycloak ${version},`);
  });

  it("leaves more time than `auth.close()` takes, as the command on the page does", () => {
    const [, seconds] = /^(\d+)s$/.exec(app.stop_grace_period ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThan(closeTimeout);
    expect(page).toContain(`\`docker stop -t ${seconds ?? ""}\``);
  });
});
