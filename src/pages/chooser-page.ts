import { html, PERSON, type Markup } from "./html.js";
import type { DescribedProvider, PageContent } from "./page-description.js";
import { shownText } from "./person.js";
import type { Texts } from "./texts.js";

export interface ChooserModel {
  readonly providers: readonly DescribedProvider[];
}

/** The page on which users choose one of several providers. */
export function chooserPage({ providers }: ChooserModel, { say }: Texts): PageContent {
  const heading = say("chooser.heading");
  const named = providers.map(withShownName);
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    ${choices(named, heading)}
  </section>`;
  return {
    kind: "chooser",
    status: 200,
    title: heading,
    heading,
    texts: [],
    providers: named,
    main,
  };
}

/** Returns a provider with its name as users see it. */
export function withShownName(provider: DescribedProvider): DescribedProvider {
  return { ...provider, name: shownText(provider.name) ?? provider.key };
}

/**
 * Returns the links to providers.
 *
 * @param label names the list for assistive technology
 */
export function choices(providers: readonly DescribedProvider[], label: string): Markup {
  return html`<nav aria-label="${label}">
    <ul class="choices">
      ${providers.map(
        ({ name, href, icon }) =>
          html`<li>
            <a class="button quiet" href="${href}">${iconAt(icon)}<bdi>${name}</bdi></a>
          </li> `,
      )}
    </ul>
  </nav>`;
}

/** Without alternative text, since the provider's name is next to it. */
function iconAt(path: string | undefined): Markup | undefined {
  return path === undefined
    ? undefined
    : html`<img src="${path}" alt="" width="24" height="24" decoding="async" />`;
}
