import { counted } from "../../live/message-parts.js";

/**
 * THE words of which a report about a provider may consist: those of the standards' metadata,
 * endpoints, scopes, claims and errors. They name nobody. A scope, a claim or a path of a tenant's
 * own has other words in it.
 */
const WORDS = new Set(
  `a access account acr address alg aliases amr at aud auth authentication authorization authorize
azp backchannel basic bearer bound c cbc certificate certs challenge check ciba claim claims client
code common connect consent consumers create credentials delivery denied details device dir discovery
display document documentation dpop ecdh eddsa email enc encryption end endpoint error es exchange exp
family form fragment frontchannel gcm given grant groups hash hd hs http iat id ietf iframe implicit
introspect introspection invalid iss issuer json jwks jwt k key keys known kw large locale locales login
logout message metadata methods modes mtls name network nonce none normal oaep oauth object offline oidc
op openid organizations page pairwise par parameter params password phone picture ping plain policy poll post
preferred private profile prompt protocol ps public push pushed query realms refresh register
registration request requests require response revocation revoke roles rs rsa s saml scope scopes secret
select self server service session sessions sid signed signing sub subject supported temporarily tid time timeout
tls token tokens too tos type types ui unauthorized unavailable unsupported updated upn uri urn userinfo
username v values ver verified web website well 0 1 2 3 5 128 192 256 384 512`.split(/\s/),
);

/** Whether a text consists of {@link WORDS} alone. */
export function isHarmless(text: unknown): text is string {
  return (
    typeof text === "string" &&
    /^[\w.:/ +-]{0,100}$/.test(text) &&
    (text.match(/[a-z]+|\d+/gi) ?? []).every((word) => WORDS.has(word.toLowerCase()))
  );
}

/** Returns the harmless ones of a list, and how many others it has. */
export function harmlessOf(items: readonly unknown[]): string {
  const shown = items.filter(isHarmless).slice(0, 100);
  const others = items.length - shown.length;
  return [...shown, ...(others > 0 ? [counted(others, "other")] : [])].join(", ");
}
