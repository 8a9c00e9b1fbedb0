/** The forms of a text by plural category (CLDR); English has `one` and `other`. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  /** Also used for each category without a form. */
  readonly other: string;
};

/**
 * A text with placeholders such as `{duration}`; with plural forms, the placeholder `{count}`
 * chooses the form.
 */
export type Message = string | PluralForms;
