import type { Response } from "express";

/** What a page may load beside the stylesheet. */
export interface PageNeeds {
  /** Of a person; its origin is allowed. */
  readonly picture?: string | null | undefined;
  /** A script file of ours, which may ask us. */
  readonly script?: boolean;
}

export function sendPage(response: Response, status: number, page: string, { picture, script = false }: PageNeeds = {}): void {
  const images = pictureOrigin(picture);
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(images === undefined ? [] : [`img-src ${images}`]),
    ...(script ? ["script-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  response
    .status(status)
    .set({
      "Content-Security-Policy": policy.join("; "),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    })
    .type("html")
    .send(page);
}

/** The one foreign origin that a page needs. What comes from the provider is nobody's promise. */
function pictureOrigin(picture: string | null | undefined): string | undefined {
  if (!picture || !URL.canParse(picture)) return undefined;
  const { protocol, origin } = new URL(picture);
  return protocol === "https:" || protocol === "http:" ? origin : undefined;
}
