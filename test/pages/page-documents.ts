import { errorPage as errorContent, type ErrorModel } from "../../src/pages/error-page.js";
import { landingPage as landingContent, type LandingModel } from "../../src/pages/landing-page.js";
import type { Language } from "../../src/pages/languages.js";
import { layout } from "../../src/pages/layout.js";
import type { PageContent } from "../../src/pages/page-description.js";
import {
  sessionsPage as sessionsContent,
  type SessionsModel,
} from "../../src/pages/sessions-page.js";
import { textsIn } from "./texts-in.js";

// The document of each page, as the component sends it.

export function errorPage(model: ErrorModel, language: Language = "en"): string {
  return documentOf(errorContent(model, textsIn(language)), model.publicPath, language);
}

export function landingPage(
  model: LandingModel,
  language: Language = "en",
): { html: string; pictureOrigin: string | undefined } {
  const content = landingContent(model, textsIn(language));
  return {
    html: documentOf(content, model.publicPath, language),
    pictureOrigin: content.picture?.origin,
  };
}

export function sessionsPage(model: SessionsModel, language: Language = "en"): string {
  return documentOf(sessionsContent(model, textsIn(language)), model.publicPath, language);
}

function documentOf({ title, main }: PageContent, publicPath: string, language: Language): string {
  return layout({ publicPath, title, main, language, direction: textsIn(language).direction });
}
