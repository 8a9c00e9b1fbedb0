import type { NextProxy } from "next/server";
import { auth, signOut } from "../auth";

/** What proxy.ts exported until now. */
export const oldProxy = auth as unknown as NextProxy;

export const oldUser = async () => (await auth())?.user;

export const endOldSession = () => signOut({ redirect: false });
