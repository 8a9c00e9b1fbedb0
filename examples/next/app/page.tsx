import Link from "next/link";

export default function Home() {
  return (
    <p>
      <Link href="/reports">Reports</Link> · <a href="/idpauth/login/">Sign in</a>
    </p>
  );
}
