import type { ReactNode } from "react";
import { auth } from "../lib/auth";
import { Shell } from "./shell";

export default async function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <Shell initialState={await auth.clientState({ ifUnavailable: null })}>{children}</Shell>
      </body>
    </html>
  );
}
