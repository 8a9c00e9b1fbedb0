import { page, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import { colorRules } from "./colors.js";
import { errorPage, type ErrorModel } from "./error-page.js";
import { indexPage, type IndexModel } from "./index-page.js";
import { DEFAULT_LANGUAGE, preferredLanguage, type Language } from "./languages.js";
import { layout, type Brand } from "./layout.js";
import type { PageContent } from "./page-content.js";
import type { PageDescription } from "./page-description.js";
import type { PagesOptions } from "./page-options.js";
import { policySource } from "./picture.js";
import { popupPage, type PopupModel } from "./popup-page.js";
import { sessionsPage, type SessionsModel } from "./sessions-page.js";
import { STYLE } from "./style.js";
import { createTexts, type Texts } from "./texts.js";

/** The pages of one application: they know its paths, its look and its language. */
export interface Pages {
  /** The path of the endpoints as browsers see it. Begins and ends with a slash. */
  readonly publicPath: string;
  /** The stylesheet of every page. */
  readonly style: string;
  landing(model: Pick<IndexModel, "state" | "signInError">, request: IdpRequest): Reply;
  sessions(model: Omit<SessionsModel, "publicPath">, request: IdpRequest): Reply;
  popup(model: PopupModel, request: IdpRequest): Reply;
  error(model: Omit<ErrorModel, "publicPath">, request: IdpRequest, headers?: Readonly<Record<string, string>>): Reply;
}

export interface PagesParts {
  readonly publicPath: string;
  /** Whether there is a page with the user's sessions. */
  readonly sessionsPage?: boolean;
  /** The option `pages`, after its check. */
  readonly options?: PagesOptions | undefined;
  /** Reports that `render` threw, or returned something other than text. */
  readonly onRenderFailed?: (kind: PageDescription["kind"], error: unknown) => void;
}

export function createPages({ publicPath, sessionsPage: hasSessionsPage = false, options = {}, onRenderFailed }: PagesParts): Pages {
  const { name, logo, colors = {}, homeHref, locale = DEFAULT_LANGUAGE, messages } = options;
  const image = typeof logo === "string" ? { src: logo } : logo;
  const logoSource = image && (image.src.startsWith("/") ? "'self'" : policySource(image.src));
  const made = new Map<Language, Texts>();

  function textsFor(request: IdpRequest): Texts {
    const language = locale === "auto" ? preferredLanguage(request.header("accept-language")) : locale;
    let texts = made.get(language);
    if (texts === undefined) made.set(language, (texts = createTexts(language, messages?.[language])));
    return texts;
  }

  function brandIn({ say }: Texts): Brand | undefined {
    if (name === undefined && image === undefined && homeHref === undefined) return undefined;
    return { text: image?.alt ?? name ?? say("nav.home"), logo: image, homeHref };
  }

  function describe(
    { main: _main, picture, forms: _forms, script, user, ...content }: PageContent,
    title: string,
    texts: Texts,
  ): PageDescription {
    const { language, direction, say } = texts;
    return {
      alert: undefined,
      code: undefined,
      reason: undefined,
      action: undefined,
      sessions: undefined,
      ...content,
      title,
      language,
      direction,
      name,
      user: user && { ...user, picture: picture?.src ?? null },
      links: {
        home: homeHref === undefined ? undefined : { label: name ?? say("nav.home"), href: homeHref },
        landing: { label: say("sessions.account"), href: publicPath },
        login: { label: say("action.signIn"), href: `${publicPath}login/` },
        logout: { label: say("action.signOut"), href: `${publicPath}logout/` },
        sessions: hasSessionsPage ? { label: say("sessions.title"), href: `${publicPath}sessions` } : undefined,
      },
      stylesheet: `${publicPath}style.css`,
      script: script && `${publicPath}${script}`,
    };
  }

  /** The application's own HTML of a page; undefined if it writes none, or fails. */
  function rendered(description: () => PageDescription): string | undefined {
    if (options.render === undefined) return undefined;
    const described = description();
    let error: unknown;
    try {
      const html: unknown = options.render(described);
      if (html === undefined || typeof html === "string") return html;
      // An async function is a mistake, and its rejection must not end the process.
      if (html instanceof Promise) html.catch(() => undefined);
    } catch (thrown) {
      error = thrown;
    }
    onRenderFailed?.(described.kind, error);
    return undefined;
  }

  function reply(content: PageContent, texts: Texts, headers?: Readonly<Record<string, string>>): Reply {
    const { status, main, picture, forms = false, script } = content;
    const { language, direction, say } = texts;
    const title = name === undefined ? content.title : say("title.named", { title: content.title, name });
    const html =
      rendered(() => describe(content, title, texts)) ??
      layout({ publicPath, title, main, script, language, direction, brand: brandIn(texts) });
    return page(status, html, {
      images: [logoSource, picture?.origin].filter((source) => source !== undefined),
      forms,
      scripts: script !== undefined,
      headers: { ...(locale === "auto" && { Vary: "Cookie, Accept-Language", "Content-Language": language }), ...headers },
    });
  }

  return {
    publicPath,
    style: `${STYLE}${colorRules(colors)}`,
    landing(model, request) {
      const texts = textsFor(request);
      return reply(indexPage({ ...model, publicPath, homeHref, sessionsPage: hasSessionsPage }, texts), texts);
    },
    sessions(model, request) {
      const texts = textsFor(request);
      return reply(sessionsPage({ ...model, publicPath }, texts), texts);
    },
    popup(model, request) {
      const texts = textsFor(request);
      return reply(popupPage(model, texts), texts);
    },
    error(model, request, headers) {
      const texts = textsFor(request);
      return reply(errorPage({ ...model, publicPath }, texts), texts, headers);
    },
  };
}
