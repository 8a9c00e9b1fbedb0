/**
 * `idpauth/client/warning`: the element `<idpauth-warning>`, which warns before the session ends.
 * The import defines it; on a server it does nothing.
 */
import type { Client } from "../client-interface.js";
import { pageClient } from "../page-client.js";
import { newsOf, wordsOf, type Words } from "./choose-warning-texts.js";
import { momentOf, type WarningView } from "./choose-warning-view.js";
import { BROWSER_CLOCK, createLimitFollower, type LimitFollower } from "./follow-limits.js";
import { createPanel, type Panel } from "./warning-panel.js";
import type { WarningTexts } from "./warning-texts.js";

export type { WarningTexts } from "./warning-texts.js";

/** The element `<idpauth-warning>`. */
export interface IdpauthWarning extends HTMLElement {
  /** The page's client. Default: the last one that `createClient` returned. */
  client: Client<object> | undefined;
  /** Seconds before the end of the session; also an attribute. Default 120. */
  seconds: number;
  /**
   * The key of the provider that "Sign in again" leads to; also an attribute. Default: that of the
   * page's last session.
   */
  provider: string | null;
  /** Texts in place of those that the element has in English and German. */
  texts: Partial<WarningTexts>;
}

declare global {
  interface HTMLElementTagNameMap {
    "idpauth-warning": IdpauthWarning;
  }
}

const NAME = "idpauth-warning";
const DEFAULT_WARNING_SECONDS = 120;

/**
 * Milliseconds until the element takes the page's client. A module that imports this one, or a
 * framework that hydrates the element, creates the client afterwards.
 */
const CLIENT_WAIT_MS = 1000;

/** What a server, which can import this file, doesn't have. */
const browser: Partial<Pick<typeof globalThis, "HTMLElement" | "customElements">> = globalThis;
const Base = browser.HTMLElement ?? (Object as unknown as typeof HTMLElement);

class Warning extends Base implements IdpauthWarning {
  static readonly observedAttributes = ["seconds", "lang"];

  readonly #panel: Panel;
  #client: Client<object> | undefined;
  #follower: LimitFollower | undefined;
  #texts: Partial<WarningTexts> = {};
  #view: WarningView = { kind: "none" };
  /** The kind of view that the user has hidden. */
  #hidden: string | undefined;
  /** What screen readers have last said something about. */
  #moment: string | undefined;
  #cancelStart = () => {};

  constructor() {
    super();
    this.#panel = createPanel(this.attachShadow({ mode: "open" }), {
      act: () => void this.#act(),
      hide: () => this.#hide(),
    });
  }

  get client(): Client<object> | undefined {
    return this.#client;
  }

  set client(client) {
    if (client === this.#client) return;
    this.#client = client;
    this.#follower?.stop();
    this.#follower = undefined;
    if (this.isConnected) this.#start();
  }

  get seconds(): number {
    const count = Number(this.getAttribute("seconds") ?? NaN);
    return count >= 0 ? count : DEFAULT_WARNING_SECONDS;
  }

  set seconds(seconds) {
    this.setAttribute("seconds", String(seconds));
  }

  get provider(): string | null {
    return this.getAttribute("provider");
  }

  set provider(provider) {
    // A framework may pass undefined.
    if (typeof provider === "string") this.setAttribute("provider", provider);
    else this.removeAttribute("provider");
  }

  get texts(): Partial<WarningTexts> {
    return this.#texts;
  }

  set texts(texts) {
    this.#texts = texts;
    this.#update();
  }

  connectedCallback(): void {
    // What a framework has set before the import hides the accessors of the class.
    for (const name of ["client", "seconds", "provider", "texts"] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      Reflect.deleteProperty(this, name);
      Object.assign(this, { [name]: value });
    }
    if (this.#client) this.#start();
    else this.#cancelStart = BROWSER_CLOCK.timer(CLIENT_WAIT_MS, () => this.#start());
  }

  disconnectedCallback(): void {
    this.#cancelStart();
    this.#follower?.stop();
    this.#panel.hide();
  }

  attributeChangedCallback(): void {
    this.#update();
  }

  /** Moves the focus to the main button. */
  override focus(options?: FocusOptions): void {
    this.#panel.focus(options);
  }

  #start(): void {
    this.#cancelStart();
    this.#follower ??= createLimitFollower({
      client: (this.#client ??= pageClient()),
      clock: BROWSER_CLOCK,
      before: () => this.seconds,
      show: (view) => this.#show(view),
    });
    this.#follower.start();
  }

  #update(): void {
    if (this.isConnected) this.#follower?.update();
  }

  #show(view: WarningView): void {
    const { kind } = view;
    const isFirst = kind !== this.#view.kind;
    const moment = momentOf(view);
    const isNews = moment !== this.#moment;
    this.#view = view;
    this.#moment = moment;
    if (isFirst) {
      this.#hidden = undefined;
      this.#panel.fail("");
    }
    if (kind === "none" || kind === this.#hidden) this.#panel.hide();
    else {
      const words = this.#words();
      this.#panel.show(view, { ...words, seconds: this.seconds });
      if (isNews) this.#panel.say(newsOf(view, words), isFirst);
    }
  }

  #words(): Words {
    const { lang } = this.closest<HTMLElement>("[lang]") ?? document.documentElement;
    return wordsOf(lang, this.#texts);
  }

  #hide(): void {
    this.#hidden = this.#view.kind;
    this.#panel.hide();
  }

  async #act(): Promise<void> {
    const { kind } = this.#view;
    const { provider } = this;
    const client = this.#client as Client<object>;
    this.#panel.fail("");
    try {
      if (kind === "idle" || kind === "unavailable") await client.keepAlive();
      else await client.signIn({ popup: true, ...(provider !== null && { params: { provider } }) });
    } catch (error) {
      const { message } = error as Error;
      const { texts } = this.#words();
      // A user who has closed the window knows it.
      if (message !== "cancelled")
        this.#panel.fail(message === "blocked" ? texts.blocked : texts.failed);
    }
  }
}

if (!browser.customElements?.get(NAME)) browser.customElements?.define(NAME, Warning);
