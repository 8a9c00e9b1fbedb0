export const PROVIDER_HELP = `Usage: idpauth provider [--port=9400] [--person="NAME <EMAIL>"]... [--write-env[=FILE]]

Runs an OpenID provider on this machine, so that you can try idpauth. The provider is only for development:
you sign in by choosing a person, without a password. It listens only on 127.0.0.1. Ctrl+C stops it.

  --port=PORT            the port (default 9400); with 0, any free port, and keys and tokens are kept only with --data
  --providers=KEY,KEY    several providers, each with its own issuer and client
  --write-env[=FILE]     writes the application's settings to FILE (default .env); never overwrites a file
  --base-url=URL         the application's origin, for BASE_URL (default http://localhost:3000)
  --data=FILE            keeps keys and tokens in FILE; by default, in a file of your user account
  --tls-cert=FILE, --tls-key=FILE
                         serves the provider over https with this certificate for 127.0.0.1 and its private key (PEM)
  -h, --help             prints this text

Options of a provider. With --providers, they apply to every provider; --staff.consent sets consent for staff only.

  --person="NAME <EMAIL> GROUP..."
                         a person to choose, with the claim groups; repeat the option for each person (default: three people)
  --redirect-uri=URI     accepts this redirect URI; repeat the option for each URI (default: any on this machine or at --base-url)
  --client-key           the client authenticates with a private key, which the command creates, instead of a secret
  --client-jwks=FILE     the client authenticates with a private key of yours; FILE has the public half, a JWK set
  --pushed-requests      accepts pushed authorization requests (PAR)
  --require-pushed-requests
                         refuses every other authorization request
  --dpop                 binds tokens to a key of the application (DPoP): each token request needs a proof
  --dpop-nonce=WHEN      demands a nonce in proofs: rotates (default), always, refresh or none
  --mtls                 the client authenticates with a certificate, and tokens are bound to it (mutual TLS); serves the provider over https
  --fapi                 does what FAPI 2.0 demands: pushed requests, a key instead of a secret, bound tokens (DPoP, or with --mtls the certificate)
  --access-tokens=FORM   jwt (default) or opaque
  --consent              asks whether the application may have each scope, and the user can refuse
  --token-seconds=N      lifetime of ID tokens and access tokens (default 3600)
  --backchannel-logout-uri=URI
                         sends a logout token to URI, on this machine, when a person's session at the provider ends
  --tenant=GUID          imitates Entra ID's tenants: the issuer ends with /organizations/v2.0, and every person belongs to this tenant

You can also write a value as the next argument: --port 9400.
Exit code: 0 after Ctrl+C; 2 for wrong usage, or if the provider can't start.
`;
