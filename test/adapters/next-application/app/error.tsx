"use client";

/** Next.js hides an error's words, but not its digest. */
export default function ErrorPage({ error }: { error: Error & { digest?: string } }) {
  return (
    <h1>
      {error.digest === "provider_unavailable"
        ? "Please try again in a moment"
        : "Something went wrong"}
    </h1>
  );
}
