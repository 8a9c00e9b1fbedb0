import type { ErrorCode } from "../errors.js";
import type { EndReason } from "../record/end-reason.js";
import type { UserPayload } from "../record/identity.js";
import type { Markup } from "./html.js";
import type { Language } from "./languages.js";
import type { Picture } from "./picture.js";

/** A link of a page. `href` is a path, an http(s) URL, or empty for the current address. */
interface PageLink {
  /** The text of the link. */
  readonly label: string;
  /** The address, not escaped. */
  readonly href: string;
}

/** A form of a page: it posts its fields. */
interface PageForm extends PageLink {
  /** The hidden fields by name, not escaped. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The form in which users enter their work email address. */
interface PageEmailForm {
  /** The text of the button. */
  readonly label: string;
  /** The path to which the form posts, not escaped. */
  readonly href: string;
  /** The hidden fields in order, not escaped. A name can occur more than once. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The label of the field `email`. */
  readonly fieldLabel: string;
  /** The address that the field shows first, not escaped. Users, links and other sites choose it. */
  readonly value: string | undefined;
  /** Why the last address led nowhere. Show it at the field, with `role="alert"`. */
  readonly error: string | undefined;
}

/**
 * What a page says, for an application that writes its own HTML (`pages.render`). Everything is
 * plain text: escape each value before you write it into HTML. Names, labels and messages can come
 * from the provider, from users and from the application.
 */
export interface PageDescription {
  /**
   * `signed-out`, `signed-in` and `ended`: the landing page. `popup`: the end of a sign-in in a
   * popup window. `other-user`: a login that another site may have started; the user decides.
   * `chooser`: the user chooses one of several providers. `organization`: the user enters an email
   * address, which leads to the provider of the user's organization.
   */
  readonly kind:
    | "signed-out"
    | "signed-in"
    | "ended"
    | "popup"
    | "sessions"
    | "other-user"
    | "chooser"
    | "organization"
    | "error";
  /** The HTTP status of the response. */
  readonly status: number;
  /** For the attribute `lang`. */
  readonly language: Language;
  /** For the attribute `dir`. */
  readonly direction: "ltr" | "rtl";
  /** The application's name: the option `pages.name`. */
  readonly name: string | undefined;
  /** The title of the document. */
  readonly title: string;
  /** For the `h1`. */
  readonly heading: string;
  /** The paragraphs of the page, in order. */
  readonly texts: readonly string[];
  /** Why the last sign-in was not completed. Show it above the heading, with `role="alert"`. */
  readonly alert: string | undefined;
  /**
   * The code of an error page. On the page `other-user`, `sign_in_unconfirmed` after a logout that
   * another site started, otherwise `other_user_signed_in`.
   */
  readonly code: ErrorCode | undefined;
  /** Why the session ended. */
  readonly reason: EndReason | undefined;
  /**
   * The user, with a picture that the page's policy allows. An ended session shows its last user.
   */
  readonly user: UserPayload | undefined;
  /** The main link of the page. */
  readonly action: PageLink | undefined;
  /**
   * The form of the page `other-user`: continue as the user of that login. It must be posted:
   * browsers without `Sec-Fetch-Site` prove only by a form which page began the login.
   */
  readonly otherAction: PageForm | undefined;
  /**
   * Paths of the endpoints, with the labels in the page's language; `home` is the option
   * `pages.homeHref`.
   */
  readonly links: {
    /** Undefined without `pages.homeHref`. */
    readonly home: PageLink | undefined;
    /** The landing page, at the mount path. */
    readonly landing: PageLink;
    /** Starts a sign-in. */
    readonly login: PageLink;
    /** Signs the user out. */
    readonly logout: PageLink;
    /** Undefined without `IDP_SESSIONS_PAGE`. */
    readonly sessions: PageLink | undefined;
  };
  /** The user's sessions. A form posts `end` to `links.sessions`: an id, `others` or `all`. */
  readonly sessions:
    | readonly {
        /** The value of the form field `end` that ends it. */
        readonly id: string;
        /** The session's label, such as "Firefox on Linux", or "Unknown device"; both in the page's language. */
        readonly device: string;
        /** When the user signed in, in words and in UTC. */
        readonly signedIn: string;
        /** The same time by ISO 8601, for `<time datetime>`. Undefined if it isn't known. */
        readonly signedInAt?: string;
        /** When the session was last used, in words and in UTC. */
        readonly lastSeen: string;
        /** The same time by ISO 8601. Undefined if it isn't known. */
        readonly lastActive?: string;
        /** Whether it is the session of this browser. */
        readonly current: boolean;
      }[]
    | undefined;
  /** The form of the page `organization`: it posts `fields`, and the address as `email`. */
  readonly emailForm: PageEmailForm | undefined;
  /**
   * The providers of the page `chooser`, and those that the page `organization` offers besides its
   * form.
   */
  readonly providers:
    | readonly {
        /** Its key in the option `providers`. */
        readonly key: string;
        /** Its name, or the key. */
        readonly name: string;
        /** The path of its icon. Undefined if it has none. */
        readonly icon?: string | undefined;
        /** The login at this provider, not escaped. */
        readonly href: string;
      }[]
    | undefined;
  /** The path of the stylesheet of idpauth. */
  readonly stylesheet: string;
  /**
   * The path of the page's script. The page `popup` needs it to close its window. On the page
   * `sessions`, it writes the text of each `<time datetime>` in the reader's time zone.
   */
  readonly script: string | undefined;
}

/** A session in the list of a user's sessions. */
export type DescribedSession = NonNullable<PageDescription["sessions"]>[number];

/** A provider that the user can choose. */
export type DescribedProvider = NonNullable<PageDescription["providers"]>[number];

type Described =
  | "code"
  | "reason"
  | "user"
  | "action"
  | "otherAction"
  | "emailForm"
  | "sessions"
  | "providers"
  | "alert";

/** The content of one page: what it says, and its HTML without the document around it. */
export interface PageContent
  extends
    Pick<PageDescription, "kind" | "status" | "title" | "heading" | "texts">,
    Partial<Pick<PageDescription, Described>> {
  readonly main: Markup;
  /** The user's picture, which the Content-Security-Policy must allow. */
  readonly picture?: Picture | undefined;
  /** Whether the page has a form, and whether the response to it leads to the provider. */
  readonly forms?: "own" | "to-provider";
  /** The name of its script file below the mount path. */
  readonly script?: string;
}

/** The form of a page. */
export type DescribedForm = NonNullable<PageDescription["otherAction"]>;

/** The form of the page that asks for an email address. */
export type DescribedEmailForm = NonNullable<PageDescription["emailForm"]>;
