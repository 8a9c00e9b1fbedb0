import { page, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import { errorPage, type ErrorModel } from "./error-page.js";
import { indexPage, type IndexModel } from "./index-page.js";
import { DEFAULT_LANGUAGE, preferredLanguage, type Language } from "./languages.js";
import { layout } from "./layout.js";
import type { PageContent } from "./page-content.js";
import { popupPage, type PopupModel } from "./popup-page.js";
import { sessionsPage, type SessionsModel } from "./sessions-page.js";
import { STYLE } from "./style.js";
import { createTexts, type Texts } from "./texts.js";

/** The pages of one application: they know its paths, its language and its texts. */
export interface Pages {
  /** The path of the endpoints as browsers see it. Begins and ends with a slash. */
  readonly publicPath: string;
  /** The stylesheet of every page. */
  readonly style: string;
  landing(model: Omit<IndexModel, "publicPath">, request: IdpRequest): Reply;
  sessions(model: Omit<SessionsModel, "publicPath">, request: IdpRequest): Reply;
  popup(model: PopupModel, request: IdpRequest): Reply;
  error(model: Omit<ErrorModel, "publicPath">, request: IdpRequest, headers?: Readonly<Record<string, string>>): Reply;
}

export interface PagesParts {
  readonly publicPath: string;
  /** `auto`: the language that each request's Accept-Language header prefers. */
  readonly locale?: Language | "auto";
}

export function createPages({ publicPath, locale = DEFAULT_LANGUAGE }: PagesParts): Pages {
  const made = new Map<Language, Texts>();

  function textsFor(request: IdpRequest): Texts {
    const language = locale === "auto" ? preferredLanguage(request.header("accept-language")) : locale;
    let texts = made.get(language);
    if (texts === undefined) made.set(language, (texts = createTexts(language)));
    return texts;
  }

  function reply(content: PageContent, { language, direction }: Texts, headers?: Readonly<Record<string, string>>): Reply {
    const { status, title, main, picture, forms = false, script } = content;
    const document = layout({ publicPath, title, main, script, language, direction });
    return page(status, document, {
      images: picture === undefined ? [] : [picture.origin],
      forms,
      scripts: script !== undefined,
      headers: { ...(locale === "auto" && { Vary: "Cookie, Accept-Language", "Content-Language": language }), ...headers },
    });
  }

  return {
    publicPath,
    style: STYLE,
    landing(model, request) {
      const texts = textsFor(request);
      return reply(indexPage({ ...model, publicPath }, texts), texts);
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
