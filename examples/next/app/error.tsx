"use client";

// What a page throws; the digest of an outage is its code.
export default function ErrorPage({ error }: { error: Error & { digest?: string } }) {
  const isOutage = ["provider_unavailable", "store_unavailable"].includes(error.digest ?? "");
  return <p>{isOutage ? "Please try again in a moment." : "Something went wrong."}</p>;
}
