// Loaded into every Node process of a test run (`node --import`) when SECRET_SCAN_FOLDER is set:
// writes down there what must stay secret, and everything that the component sends to browsers,
// says in its log and tells in its events, and that applications print. scripts/secret-scan.mjs
// then looks for the first in the second. Secrets are learnt on the wire, from whatever provider:
// what its token endpoint answers, what is posted to it, what an authorization URL carries, which
// proofs and nonces are sent, which keys sign them, and which keys connections have.
import { createHash, createPrivateKey } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import { ServerResponse } from "node:http";
import { Http2ServerResponse } from "node:http2";
import path from "node:path";
import tls from "node:tls";

/** @param {string} into */
function record(into) {
  const lines = new Pages(path.join(into, `${String(process.pid)}.ndjson`));
  /** @param {string} kind @param {unknown} value */
  const secret = (kind, value) => {
    if (typeof value === "string" && value.length >= 8) lines.add({ secret: kind, value });
  };
  /** @param {string} where @param {string} text */
  const said = (where, text) => {
    if (text !== "") lines.add({ where, text });
    for (const [url] of text.matchAll(AUTHORIZATION_URL)) {
      const query = new URLSearchParams(url.slice(url.indexOf("?")).replaceAll("&amp;", "&"));
      secret("state", query.get("state"));
      secret("nonce", query.get("nonce"));
    }
  };

  // For answers that tests ask for without a socket.
  Object.assign(globalThis, { [Symbol.for("idpauth.secret-scan")]: said });
  watchAnswers(said, secret);
  watchFetch(secret);
  watchProofs(secret);
  watchKeys(secret);
  for (const name of [
    "login",
    "refresh",
    "logout",
    "blocked",
    "ended",
    "failure",
    "outage",
    "log",
  ]) {
    subscribe(`idpauth:${name}`, (message) => {
      said(name === "log" ? "log" : "event", JSON.stringify(message));
    });
  }
  // What a test runner prints is not the application's.
  if (process.env["VITEST"] === undefined) watchOutput(said);
}

/** Where state and nonce belong. */
export const AUTHORIZATION_URL = /https?:\/\/[^\s"'<>\\]+[?&](?:amp;)?code_challenge=[^\s"'<>\\]*/g;

/**
 * Keeps what has been seen from being written again, and writes in pages.
 */
class Pages {
  #seen = new Set();
  #page = "";
  #file;

  /** @param {string} file */
  constructor(file) {
    this.#file = file;
    process.on("exit", () => {
      this.#flush();
    });
    setInterval(() => {
      this.#flush();
    }, 200).unref();
  }

  /** @param {object} entry */
  add(entry) {
    const line = JSON.stringify(entry);
    const mark = line.length < 64 ? line : createHash("sha1").update(line).digest("base64");
    if (this.#seen.has(mark)) return;
    this.#seen.add(mark);
    this.#page += `${line}\n`;
    if (this.#page.length > 1_000_000) this.#flush();
  }

  #flush() {
    if (this.#page === "") return;
    const page = this.#page;
    this.#page = "";
    try {
      appendFileSync(this.#file, page);
    } catch {
      // The run is over and its folder gone.
    }
  }
}

/** Characters of one answer that are looked at; the component's own are far shorter. */
const MOST = 256 * 1024;

/**
 * @param {(where: string, text: string) => void} said
 * @param {(kind: string, value: unknown) => void} secret
 */
function watchAnswers(said, secret) {
  for (const { prototype } of [ServerResponse, Http2ServerResponse]) {
    /** @type {WeakMap<object, string>} */
    const bodies = new WeakMap();
    const { write, end } = /** @type {{ write: Function, end: Function }} */ (
      /** @type {unknown} */ (prototype)
    );
    /** @param {object} response @param {unknown} chunk */
    const take = (response, chunk) => {
      const text =
        typeof chunk === "string"
          ? chunk
          : chunk instanceof Uint8Array
            ? Buffer.from(chunk).toString("utf8")
            : "";
      const before = bodies.get(response) ?? "";
      if (before.length < MOST) bodies.set(response, before + text);
    };
    Object.assign(prototype, {
      /** @this {ServerResponse} @param {unknown} chunk @param {unknown[]} rest */
      write(chunk, ...rest) {
        take(this, chunk);
        return write.call(this, chunk, ...rest);
      },
      /**
       * @this {ServerResponse & { _header?: string }}
       * @param {unknown} chunk
       * @param {unknown[]} rest
       */
      end(chunk, ...rest) {
        take(this, chunk);
        const body = bodies.get(this) ?? "";
        bodies.delete(this);
        const result = end.call(this, chunk, ...rest);
        look(headOf(this), body, said, secret);
        return result;
      },
    });
  }
}

/** @param {ServerResponse & { _header?: string }} response */
function headOf(response) {
  // As it went over the wire; HTTP/2 has no such text.
  if (typeof response._header === "string") return response._header;
  return Object.entries(response.getHeaders())
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${String(value)}\r\n`))
    .join("");
}

/**
 * @param {string} head
 * @param {string} body
 * @param {(where: string, text: string) => void} said
 * @param {(kind: string, value: unknown) => void} secret
 */
function look(head, body, said, secret) {
  if (/"(?:access|refresh|id)_token"/.test(body) && !isComponents(head)) {
    for (const kind of ["access_token", "refresh_token", "id_token"]) {
      for (const [, value] of body.matchAll(new RegExp(`"${kind}"\\s*:\\s*"([^"]*)"`, "g")))
        secret(kind, value);
    }
  }
  if (!isComponents(head)) {
    secret("dpop_nonce", /^dpop-nonce: (\S+)\r?$/im.exec(head)?.[1]);
    // A signed response (JARM), in the redirect of the provider.
    secret("response", /^location: \S*[?&]response=([^&\s]*)/im.exec(head)?.[1]);
    return;
  }
  const cookies = head.match(/^set-cookie:.*$/gim) ?? [];
  for (const cookie of cookies) {
    said("set-cookie", cookie);
    secret("cookie", /=([^;]*)/.exec(cookie)?.[1]);
  }
  // The time of day would make each answer another one.
  said("head", head.replace(/^(?:set-cookie|date):.*\r?\n/gim, ""));
  said("body", body);
}

/**
 * The component's own answers, whatever serves them, all carry these headers; a test application
 * may print what it likes.
 */
function isComponents(/** @type {string} */ head) {
  return (
    /^referrer-policy: no-referrer\r?$/im.test(head) &&
    /^x-content-type-options: nosniff\r?$/im.test(head)
  );
}

/** @param {(kind: string, value: unknown) => void} secret */
function watchFetch(secret) {
  const { fetch } = globalThis;
  globalThis.fetch = function (input, init) {
    const body = init?.body;
    const text =
      body instanceof URLSearchParams ? body.toString() : typeof body === "string" ? body : "";
    if (text.includes("grant_type=")) {
      const form = new URLSearchParams(text);
      for (const name of [
        "code",
        "code_verifier",
        "client_assertion",
        "client_secret",
        "refresh_token",
      ])
        secret(name, form.get(name));
    }
    return fetch(input, init);
  };
}

/** Proofs, as a provider or an API receives them. @param {(kind: string, value: unknown) => void} secret */
function watchProofs(secret) {
  subscribe("http.server.request.start", (message) => {
    const { request } = /** @type {{ request: import("node:http").IncomingMessage }} */ (message);
    secret("dpop_proof", request.headers["dpop"]);
  });
}

/**
 * The keys that sign proofs, and those of the certificates that connections show.
 * @param {(kind: string, value: unknown) => void} secret
 */
function watchKeys(secret) {
  const subtle = Object.getPrototypeOf(crypto.subtle);
  const { importKey } = subtle;
  /** @this {unknown} @param {any[]} given */
  subtle.importKey = function (...given) {
    const [format, key, algorithm] = given;
    // Without a name: that of a session.
    if (format === "jwk" && algorithm?.name === "ECDSA" && key?.kid === undefined)
      secret("dpop_key", key?.d);
    return importKey.apply(this, given);
  };
  const { connect } = tls;
  tls.connect = /** @type {typeof connect} */ (
    (/** @type {any[]} */ ...given) => {
      const key = given.find((one) => one?.key !== undefined)?.key;
      if (typeof key === "string") {
        for (const value of privateParts(key)) secret("client_certificate_key", value);
      }
      return /** @type {Function} */ (connect)(...given);
    }
  );
}

/**
 * The private parts of a key as texts: as a JWK has them, and the lines of its PEM that contain
 * nothing else. The first lines have the same beginning for all keys, and RSA's public part.
 * @param {string} pem
 */
function privateParts(pem) {
  const { d, p, q } = createPrivateKey(pem).export({ format: "jwk" });
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  return [d, p, q, ...lines.slice(Math.floor(lines.length / 2), -1)];
}

/** @param {(where: string, text: string) => void} said */
function watchOutput(said) {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = /** @type {typeof stream.write} */ (
      (/** @type {string | Uint8Array} */ chunk, /** @type {any[]} */ ...rest) => {
        said("output", typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
        return write(chunk, ...rest);
      }
    );
  }
}

const folder = process.env["SECRET_SCAN_FOLDER"];
if (folder !== undefined && folder !== "") record(folder);
