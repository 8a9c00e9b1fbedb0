import { auth } from "./lib/auth";

export const register = () => void auth.start();
