"use client";

import type { ClientState } from "idpauth/client";
import "idpauth/client/warning";
import { pageClient, ServerContent, SessionProvider, SignedIn } from "idpauth/react";
import Link from "next/link";
import { usePathname, useRouter } from "next/navigation";
import type { ReactNode } from "react";

const PAGES = { "/orders": "Orders", "/payroll": "Payroll" };

/** What every page shows: the navigation, and the page itself. */
export function Shell({
  initialState,
  children,
}: {
  /** Null in an outage. */
  initialState: ClientState | null;
  children: ReactNode;
}) {
  const path = usePathname();
  const client = pageClient({ initialState, onUserChange: () => location.reload() });
  return (
    <SessionProvider client={client}>
      <nav>
        {Object.entries(PAGES).map(([href, name]) => (
          <Link
            key={href}
            href={href}
            prefetch={false}
            aria-current={href === path ? "page" : undefined}
          >
            {name}
          </Link>
        ))}
        <SignedIn>
          <button onClick={() => void client.signOut()}>Sign out</button>
        </SignedIn>
      </nav>
      <ServerContent account={initialState?.account ?? null} refresh={useRouter().refresh}>
        <main>{children}</main>
      </ServerContent>
      <idpauth-warning />
    </SessionProvider>
  );
}
