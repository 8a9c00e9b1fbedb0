import type { PersonClaims, TestProvider } from "../../src/testing/provider/test-provider.js";

/** Somebody with a browser that holds one session cookie. */
export interface TestUser {
  readonly sub: string;
  readonly email: string;
  cookie: string;
}

/**
 * Seconds that ID tokens of one person live: the one of the sign-in, and those of refreshes. 0:
 * expired on arrival.
 */
export interface TokenLife {
  readonly first: number;
  readonly later: number;
}

const HOUR = 3_600;

/**
 * Who the provider knows, and what it gave to whom. It is the provider's own memory of it, not the
 * application's.
 */
export class People {
  readonly #lives = new Map<string, TokenLife>();
  readonly #ownerOf = new Map<string, string>();
  readonly #sids = new Map<string, string>();
  readonly #refreshTokens = new Map<string, string[]>();
  #count = 0;

  constructor(provider: TestProvider) {
    provider.mutateIdToken = (draft) => {
      const life = this.#lives.get(String(draft.claims["sub"])) ?? { first: HOUR, later: HOUR };
      draft.claims["exp"] =
        Number(draft.claims["iat"]) +
        (draft.grant === "authorization_code" ? life.first : life.later);
      return draft;
    };
    provider.tokenResponse = (answer) => {
      const [, claims = ""] = String(answer["id_token"]).split(".");
      const { sub, sid = "" } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) as {
        sub: string;
        sid?: string;
      };
      this.#sids.set(sub, sid);
      this.#ownerOf.set(String(answer["access_token"]), sub);
      const given = this.#refreshTokens.get(sub) ?? [];
      this.#refreshTokens.set(sub, [...given, String(answer["refresh_token"])]);
      return answer;
    };
  }

  add(life: Partial<TokenLife> = {}): {
    readonly sub: string;
    readonly email: string;
    readonly claims: PersonClaims;
  } {
    this.#count += 1;
    const sub = `person-${String(this.#count)}`;
    const email = `${sub}@example.com`;
    this.#lives.set(sub, { first: HOUR, later: HOUR, ...life });
    return { sub, email, claims: { sub, email, name: `Person ${String(this.#count)}` } };
  }

  /** Whose access token this is. */
  ownerOf(accessToken: string): string | undefined {
    return this.#ownerOf.get(accessToken);
  }

  /** The provider's session in which this person signed in last. */
  sidOf({ sub }: Pick<TestUser, "sub">): string {
    return this.#sids.get(sub) ?? "";
  }

  /** Every refresh token that the provider gave this person, oldest first. */
  refreshTokensOf({ sub }: Pick<TestUser, "sub">): readonly string[] {
    return this.#refreshTokens.get(sub) ?? [];
  }
}
