/**
 * The proof that a form of our own page has begun a login. Browsers without `Sec-Fetch-Site` (plain
 * http off loopback, old browsers) say nothing else that another site can't cause.
 */
import { hash } from "node:crypto";
import type { Clock } from "../clock.js";
import type { Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";
import type { Sealer } from "./seal.js";
import { createSealedParameter } from "./sealed-parameter.js";

/** The parameter of a login that carries the proof. */
const FORM_PROOF = "form_proof";

/** Seconds: the browser follows the redirect at once. */
const PROOF_SECONDS = 60;

/** A request with its session, of which nothing is read. */
export interface OpenedRequest {
  readonly request: IdpRequest;
  readonly origin: Origin | undefined;
  readonly session: { readonly key: string | undefined };
}

export interface OwnForms {
  /**
   * Returns the fields of a posted form with a proof that it came from our own page. Without the
   * proof if the form isn't ours, or if `Sec-Fetch-Site` says more than the proof, or if the browser
   * has no session: a program can forge `Origin`, and lure a user to the address with the proof.
   */
  withProof(opened: OpenedRequest, fields: URLSearchParams): URLSearchParams;
  /** Whether the query of a login has the proof of exactly its fields and of this session. */
  isProven(opened: OpenedRequest, query: URLSearchParams): boolean;
}

export interface OwnFormsParts {
  readonly settings: { readonly publicPath: string };
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Identifies the session whose cookie the browser sent. Undefined or empty: it sent none. */
  readonly sessionOf: (opened: OpenedRequest) => string | undefined;
}

export function createOwnForms(parts: OwnFormsParts): OwnForms {
  const { sessionOf, settings } = parts;
  const parameter = createSealedParameter({ ...parts, purpose: "form", seconds: PROOF_SECONDS });
  const path = `${settings.publicPath}login/`;
  return {
    withProof(opened, fields) {
      const { request, origin } = opened;
      const plain = withoutProof(fields);
      const session = sessionOf(opened);
      const isOwn =
        origin !== undefined &&
        request.header("sec-fetch-site") === undefined &&
        request.header("origin") === origin;
      if (!isOwn || !session) return plain;
      const proof = parameter.seal(contentOf(plain, session), { origin, path });
      return new URLSearchParams([...plain, [FORM_PROOF, proof]]);
    },
    isProven(opened, query) {
      const { request, origin } = opened;
      const [proof] = query.getAll(FORM_PROOF);
      if (proof === undefined || origin === undefined) return false;
      if (request.header("sec-fetch-site") !== undefined) return false;
      const session = sessionOf(opened);
      if (!session) return false;
      return parameter.open(proof, { origin, path }) === contentOf(withoutProof(query), session);
    },
  };
}

function withoutProof(fields: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...fields].filter(([name]) => name !== FORM_PROOF));
}

function contentOf(fields: URLSearchParams, session: string): string {
  return [fields.toString(), session].map((text) => hash("sha256", text, "base64url")).join(".");
}
