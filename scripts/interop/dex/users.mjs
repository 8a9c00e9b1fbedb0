// The users of Dex's password database.

export const USERS = [
  { userID: "ada", name: "Ada Lovelace", groups: ["admins"] },
  { userID: "grace", name: "Grace Hopper", groups: [] },
].map((user) => ({ ...user, email: `${user.userID}@example.com`, username: user.userID }));
