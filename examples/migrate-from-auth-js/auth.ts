import NextAuth from "next-auth";

declare module "next-auth" {
  interface Session {
    accessToken?: unknown;
  }
}

/** The application's own set-up of Auth.js, as it was before the migration. */
export const { handlers, auth, signIn, signOut } = NextAuth({
  trustHost: true,
  providers: [
    {
      id: "company",
      name: "Company",
      type: "oidc",
      issuer: process.env["IDP_ISSUER"],
      clientId: process.env["IDP_CLIENT_ID"],
      clientSecret: process.env["IDP_CLIENT_SECRET"],
    },
  ],
  callbacks: {
    authorized: ({ auth: session }) => session?.user !== undefined,
    jwt: ({ token, account, profile }) => ({
      ...token,
      ...(profile && { sub: profile.sub, accessToken: account?.access_token }),
    }),
    session: ({ session, token }) => ({
      ...session,
      accessToken: token["accessToken"],
      user: { ...session.user, id: token.sub ?? "" },
    }),
  },
});
