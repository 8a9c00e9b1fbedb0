import NextAuth from "next-auth";

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
    jwt: ({ token, profile }) => ({ ...token, ...(profile && { sub: profile.sub }) }),
    session: ({ session, token }) => ({
      ...session,
      user: { ...session.user, id: token.sub ?? "" },
    }),
  },
});
