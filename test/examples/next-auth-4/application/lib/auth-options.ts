import type { NextAuthOptions } from "next-auth";

export const authOptions: NextAuthOptions = {
  providers: [
    {
      id: "company",
      name: "Company",
      type: "oauth",
      idToken: true,
      wellKnown: `${process.env["IDP_ISSUER"]}/.well-known/openid-configuration`,
      authorization: { params: { scope: "openid email profile" } },
      checks: ["pkce", "state", "nonce"],
      clientId: process.env["IDP_CLIENT_ID"],
      clientSecret: process.env["IDP_CLIENT_SECRET"],
      profile: (profile) => ({ id: profile.sub, name: profile.name, email: profile.email }),
    },
  ],
  callbacks: {
    jwt: ({ token, account }) => ({
      ...token,
      ...(account && { accessToken: account.access_token }),
    }),
    session: ({ session, token }) => ({
      ...session,
      accessToken: token["accessToken"],
      user: { ...session.user, id: token.sub },
    }),
  },
};
