import fc from "fast-check";
import { expect, it } from "vitest";
import {
  MAX_SHOWN_SESSIONS,
  sessionsPage as sessionsContent,
  type ShownSession,
} from "../../src/pages/sessions-page.js";
import { expectOrderlyPage } from "./expect-orderly-page.js";
import { sessionsPage } from "./page-documents.js";
import { sessionsStates } from "./states.mjs";
import { tagsOf, textOf } from "./tags.js";
import { textsIn } from "./texts-in.js";

const publicPath = "/idpauth/";
const now = Date.UTC(2026, 10, 22, 12) / 1000;
const laptop: ShownSession = {
  id: "L1",
  signedInAt: now - 3_600,
  lastActive: now - 90,
  label: "Firefox on Linux",
  current: true,
};
const phone: ShownSession = {
  id: "P1",
  signedInAt: now - 90_000,
  lastActive: now - 7_300,
  label: "Safari on iPhone",
  current: false,
};
const show = (...sessions: ShownSession[]) => sessionsPage({ publicPath, sessions, now });
const buttons = (page: string) =>
  tagsOf(page)
    .filter(({ name, end }) => name === "button" && !end)
    .map(({ attributes }) => [attributes.get("name"), attributes.get("value")]);

it.each(Object.entries(sessionsStates))(
  "%s is one well-formed page without anything inline, with one form",
  (_name, model) => {
    expectOrderlyPage(sessionsPage(model), 1);
  },
);

it("lists device, sign-in and last activity of each session, in UTC", () => {
  const page = show(laptop, phone);
  expect(textOf(page)).toContain(
    "Firefox on Linux This session Signed in 22 Nov 2026, 11:00 UTC Last seen 22 Nov 2026, 11:58 UTC (1 minute ago)",
  );
  expect(textOf(page)).toContain(
    "Safari on iPhone Signed in 21 Nov 2026, 11:00 UTC Last seen 22 Nov 2026, 09:58 UTC (2 hours ago)",
  );
  expect(page).toContain('<time datetime="2026-11-22T11:00:00.000Z" lang="en-GB">');
});

it("says which of several providers the sessions are of, also in the description", () => {
  const model = { publicPath, sessions: [laptop], now };
  expect(textOf(sessionsPage({ ...model, provider: "\u202eCustomer <account>" }))).toContain(
    "Your sessions You are signed in with Customer <account> on these devices.",
  );
  const { texts } = sessionsContent({ ...model, provider: "Example staff" }, textsIn("en"));
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain("You are signed in with Example staff on these devices.");
  expect(sessionsContent(model, textsIn("en")).texts[0]).toContain(
    "You are signed in on these devices.",
  );
});

it("sends `end` with a POST to the page's own address", () => {
  const page = show(laptop, phone);
  const form = tagsOf(page).find(({ name }) => name === "form");
  expect(Object.fromEntries(form?.attributes ?? [])).toMatchObject({
    method: "post",
    action: "/idpauth/sessions",
  });
  expect(buttons(page)).toEqual([
    ["end", "P1"],
    ["end", "others"],
    ["end", "all"],
  ]);
});

it("ends this browser's own session with a link to the logout, which also revokes the tokens", () => {
  const links = tagsOf(show(phone, laptop)).flatMap(({ name, attributes }) =>
    name === "a" ? [attributes.get("href")] : [],
  );
  expect(links.filter(Boolean)).toEqual(["/idpauth/logout/", "/idpauth/"]);
});

it("lists this browser's own session first", () => {
  const text = textOf(show(phone, laptop));
  expect(text.indexOf("Firefox on Linux")).toBeLessThan(text.indexOf("Safari on iPhone"));
});

it("offers to end other sessions only if there are any", () => {
  expect(buttons(show(laptop))).toEqual([["end", "all"]]);
});

it("distinguishes the buttons by their accessible names", () => {
  const names = tagsOf(show(laptop, phone)).flatMap(
    ({ attributes }) => attributes.get("aria-label") ?? [],
  );
  expect(names).toContain("End session: Safari on iPhone, signed in 21 Nov 2026, 11:00 UTC");
});

it.each([null, "", "  ", "\u202e"])(
  "calls a session with the label %j an unknown device",
  (label) => {
    expect(textOf(show({ ...phone, label }))).toContain("Unknown device");
  },
);

it.each([
  ["de", "Firefox auf Linux", "ltr"],
  ["ar", "Firefox على Linux", "rtl"],
] as const)(
  "in %s, writes the name of a device in its own words and direction, and leaves the application's own labels",
  (language, words, direction) => {
    const own = { ...phone, label: "Ada's Firefox on Linux" };
    const page = sessionsPage({ publicPath, sessions: [laptop, own], now }, language);
    expect(page).toContain(`<bdi dir="${direction}">${words}</bdi>`);
    expect(page).toContain('<bdi dir="auto">Ada&#39;s Firefox on Linux</bdi>');
  },
);

it.each([null, NaN, Infinity, -1, 1e300, 253_402_300_800])("shows the time %s as unknown", (at) => {
  const page = show({ ...phone, signedInAt: at, lastActive: at });
  expect(textOf(page)).toContain(
    "Signed in at an unknown time Last seen at an unknown time End session",
  );
  expect(page).not.toContain("<time");
});

it("shows a time that is slightly in the future", () => {
  expect(textOf(show({ ...phone, lastActive: now + 5 }))).toContain(
    "22 Nov 2026, 12:00 UTC (less than a minute ago)",
  );
});

it("lists at most a hundred sessions, and counts the rest", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    ...phone,
    id: `p${String(index)}`,
  }));
  const page = show(...many, laptop);
  expect(buttons(page)).toHaveLength(MAX_SHOWN_SESSIONS - 1 + 2);
  expect(textOf(page)).toContain("9901 older sessions are not shown.");
  expect(textOf(page)).toContain("Firefox on Linux This session");
});

it("stays under another mount path", () => {
  expect(sessionsPage({ publicPath: "/auth/", sessions: [laptop, phone], now })).not.toContain(
    "/idpauth/",
  );
});

it("has the same tags for every label", () => {
  const shapeOf = (page: string) =>
    tagsOf(page).map(({ name, end, attributes }) => [name, end, [...attributes.keys()]]);
  const benign = shapeOf(show(phone));
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("<script>", "</bdi>", '"', "'", "&", "-->", "\u0000", "`"),
  );
  fc.assert(
    fc.property(hostile, (label) => {
      expect(shapeOf(show({ ...phone, label, id: label }))).toEqual(benign);
    }),
  );
});
