import { ownOrigin, type AddressSettings } from "../http/own-origin.js";
import type { Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { lazily } from "../work/lazily.js";
import type { ChooserModel } from "./chooser-page.js";
import type { ErrorModel } from "./error-page.js";
import type { LandingModel } from "./landing-page.js";
import {
  DEFAULT_LANGUAGE,
  loadMessages,
  preferredLanguage,
  type Language,
  type LoadMessages,
} from "./languages.js";
import { layout, type Brand } from "./layout.js";
import { en } from "./locales/en.js";
import type { OrganizationModel } from "./organization-page.js";
import type { OtherUserModel } from "./other-user-page.js";
import type { PageContent, PageDescription } from "./page-description.js";
import type { PagesOptions } from "./page-options.js";
import { page } from "./page-reply.js";
import { imageSource } from "./picture.js";
import type { SessionsModel } from "./sessions-page.js";
import { createTexts, type Texts } from "./texts.js";

const loadCommonPages = lazily(() => import("./common-pages.js"));
const loadChooserPage = lazily(() => import("./chooser-page.js"));
const loadOrganizationPage = lazily(() => import("./organization-page.js"));
const loadSessionsPage = lazily(() => import("./sessions-page.js"));

/** The pages of one application: they know its paths, its look and its language. */
export interface Pages {
  /** The path of the endpoints as browsers see it. Begins and ends with a slash. */
  readonly publicPath: string;
  /** Loads the code of the pages that an application uses. Otherwise their first request does. */
  load(used: { readonly chooser: boolean; readonly organization?: boolean }): Promise<unknown>;
  /** The stylesheet of every page. */
  style(): Promise<string>;
  landing(
    model: Pick<LandingModel, "state" | "signInError" | "retryHref">,
    request: IdpRequest,
  ): Promise<Reply>;
  sessions(model: Omit<SessionsModel, "publicPath">, request: IdpRequest): Promise<Reply>;
  /** A page that an endpoint makes itself. */
  own(request: IdpRequest, contentIn: (texts: Texts) => PageContent): Promise<Reply>;
  otherUser(model: OtherUserModel, request: IdpRequest): Promise<Reply>;
  chooser(model: ChooserModel, request: IdpRequest): Promise<Reply>;
  organization(model: Omit<OrganizationModel, "publicPath">, request: IdpRequest): Promise<Reply>;
  error(
    model: Omit<ErrorModel, "publicPath" | "debug" | "isStranger" | "isForm">,
    request: IdpRequest,
    headers?: Reply["headers"],
  ): Promise<Reply>;
}

export interface PagesParts {
  readonly publicPath: string;
  /** How the application's own origin is found. */
  readonly address: AddressSettings;
  /** Whether there is a page with the user's sessions. */
  readonly sessionsPage?: boolean;
  /** Whether the pages contain what is for developers: names of settings, links to JSON. */
  readonly debug?: boolean;
  /** Whether the browser of a request may have a session. Default: it may. */
  readonly mayHaveSession?: (request: IdpRequest) => boolean;
  /** The option `pages`, after its check. */
  readonly options?: PagesOptions | undefined;
  /** Reports that `render` threw, or without `thrown` that it returned something other than text. */
  readonly onRenderFailed?: (
    kind: PageDescription["kind"],
    thrown?: { readonly error: unknown },
  ) => void;
  /** Default: imports the language's file. */
  readonly load?: LoadMessages;
  /**
   * Reports that a language could not be loaded. The page is in English, and the language's next
   * page tries again.
   */
  readonly onLanguageFailed?: (language: Language, error: unknown) => void;
}

export function createPages(parts: PagesParts): Pages {
  const {
    publicPath,
    address,
    sessionsPage: hasSessionsPage = false,
    debug = false,
    mayHaveSession = () => true,
    options = {},
    load = loadMessages,
  } = parts;
  const { name, logo, colors = {}, homeHref, locale = DEFAULT_LANGUAGE, messages } = options;
  const image = typeof logo === "string" ? { src: logo } : logo;
  const made = new Map<Language, Promise<Texts>>();

  /** The texts in the language of a request. */
  function textsFor(request: IdpRequest): Promise<Texts> {
    return textsOnce(
      locale === "auto" ? preferredLanguage(request.header("accept-language")) : locale,
    );
  }

  function textsOnce(language: Language): Promise<Texts> {
    let texts = made.get(language);
    if (texts === undefined) made.set(language, (texts = textsIn(language)));
    return texts;
  }

  async function textsIn(language: Language): Promise<Texts> {
    let loaded;
    try {
      loaded = await load(language);
    } catch (error) {
      made.delete(language);
      parts.onLanguageFailed?.(language, error);
      return createTexts(DEFAULT_LANGUAGE, en, messages?.[DEFAULT_LANGUAGE]);
    }
    return createTexts(language, loaded, messages?.[language]);
  }

  function brandIn({ say }: Texts): Brand | undefined {
    if (name === undefined && image === undefined && homeHref === undefined) return undefined;
    return { text: image?.alt ?? name ?? say("nav.home"), logo: image, homeHref };
  }

  function describe(shown: PageContent, title: string, texts: Texts): PageDescription {
    const { main: _main, picture, forms: _forms, script, user, ...content } = shown;
    const { language, direction, say } = texts;
    return {
      alert: undefined,
      code: undefined,
      reason: undefined,
      action: undefined,
      otherAction: undefined,
      emailForm: undefined,
      sessions: undefined,
      providers: undefined,
      ...content,
      title,
      language,
      direction,
      name,
      user: user && { ...user, picture: picture?.src ?? null },
      links: {
        home:
          homeHref === undefined ? undefined : { label: name ?? say("nav.home"), href: homeHref },
        landing: { label: say("sessions.account"), href: publicPath },
        login: { label: say("action.signIn"), href: `${publicPath}login/` },
        logout: { label: say("action.signOut"), href: `${publicPath}logout/` },
        sessions: hasSessionsPage
          ? { label: say("sessions.title"), href: `${publicPath}sessions` }
          : undefined,
      },
      stylesheet: `${publicPath}style.css`,
      script: script && `${publicPath}${script}`,
    };
  }

  /** The application's own HTML of a page; undefined if it writes none, or fails. */
  function rendered(description: () => PageDescription): string | undefined {
    if (options.render === undefined) return undefined;
    const described = description();
    try {
      const html: unknown = options.render(described);
      if (html === undefined || typeof html === "string") return html;
      // An async function is a mistake, and its rejection must not end the process.
      if (html instanceof Promise) html.catch(() => undefined);
      parts.onRenderFailed?.(described.kind);
    } catch (error) {
      parts.onRenderFailed?.(described.kind, { error });
    }
    return undefined;
  }

  async function reply(
    request: IdpRequest,
    contentIn: (texts: Texts) => PageContent,
    headers?: Reply["headers"],
  ): Promise<Reply> {
    const texts = await textsFor(request);
    const content = contentIn(texts);
    const { status, main, picture, providers = [], forms, script } = content;
    const origin = ownOrigin(request, address);
    const sourceOf = (path: string) => imageSource(path, origin);
    const { language, direction, say } = texts;
    const title =
      name === undefined ? content.title : say("title.named", { title: content.title, name });
    const html =
      rendered(() => describe(content, title, texts)) ??
      layout({ publicPath, title, main, script, language, direction, brand: brandIn(texts) });
    return page(status, html, {
      images: [
        image && sourceOf(image.src),
        ...providers.map(({ icon }) => icon && sourceOf(icon)),
        picture?.origin,
      ].filter((source) => source !== undefined),
      forms,
      // An application's own page may load more to report the end of a popup's login.
      scripts: script === "popup.js" ? "'self'" : script && sourceOf(publicPath + script),
      headers: {
        ...(locale === "auto" && { Vary: "Cookie, Accept-Language", "Content-Language": language }),
        ...headers,
      },
    });
  }

  return {
    publicPath,
    load: ({ chooser, organization }) =>
      Promise.all([
        loadCommonPages(),
        ...(chooser ? [loadChooserPage()] : []),
        ...(organization ? [loadOrganizationPage()] : []),
        ...(hasSessionsPage ? [loadSessionsPage()] : []),
        // The languages of browsers are loaded when one asks: the page is in English if that fails.
        ...(locale === "auto" ? [] : [textsOnce(locale)]),
      ]),
    async style() {
      const { styleWith } = await loadCommonPages();
      return styleWith(colors);
    },
    async landing(model, request) {
      const { landingPage } = await loadCommonPages();
      const own = { publicPath, homeHref, sessionsPage: hasSessionsPage, debug };
      return reply(request, (texts) => landingPage({ ...model, ...own }, texts));
    },
    async sessions(model, request) {
      const { sessionsPage } = await loadSessionsPage();
      return reply(request, (texts) => sessionsPage({ ...model, publicPath }, texts));
    },
    own: reply,
    async otherUser(model, request) {
      const { otherUserPage } = await loadCommonPages();
      return reply(request, (texts) => otherUserPage(model, texts));
    },
    async chooser(model, request) {
      const { chooserPage } = await loadChooserPage();
      return reply(request, (texts) => chooserPage(model, texts));
    },
    async organization(model, request) {
      const { organizationPage } = await loadOrganizationPage();
      return reply(request, (texts) => organizationPage({ ...model, publicPath }, texts));
    },
    async error(model, request, headers) {
      const { errorPage } = await loadCommonPages();
      const isForm = request.method !== "GET" && request.method !== "HEAD";
      const own = { publicPath, debug, isStranger: !mayHaveSession(request), isForm };
      return reply(request, (texts) => errorPage({ ...model, ...own }, texts), headers);
    },
  };
}
