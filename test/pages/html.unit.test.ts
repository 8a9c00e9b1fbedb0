import { describe, expect, it } from "vitest";
import { html, Markup, type Interpolated } from "../../src/pages/html.js";

describe("the html tag", () => {
  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    [`" onload="alert(1)`, "&quot; onload=&quot;alert(1)"],
    ["' onload='x", "&#39; onload=&#39;x"],
    ["&lt;", "&amp;lt;"],
    [0, "0"],
    [undefined, ""],
    [["a<", ["b>"], undefined], "a&lt;b&gt;"],
  ])("writes %j as %s", (value, written) => {
    expect(html`<p title="${value}">${value}</p>`.toString()).toBe(
      `<p title="${written}">${written}</p>`,
    );
  });

  it("keeps markup as it is, alone and in a list", () => {
    const item = html`<b>${"<"}</b>`;
    expect(html`<p>${item}${[item, "<"]}</p>`.toString()).toBe("<p><b>&lt;</b><b>&lt;</b>&lt;</p>");
  });

  it.each([
    ["an object with a toString", { toString: () => "<script>" }],
    ["an object with the prototype of markup", Object.create(Markup.prototype) as unknown],
    ["an object out of JSON", JSON.parse('{"text":"<script>","#text":"<script>"}') as unknown],
  ])("takes %s neither for markup nor for text", (_name, forged) => {
    expect(() => html`${forged as Interpolated}`.toString()).toThrow(TypeError);
  });

  it("refuses to fill an attribute without quotes", () => {
    expect(() => html`<p title=${"x onload=alert(1)"}></p>`).toThrow("quotes");
  });

  it("takes an equals sign at the end of a value", () => {
    expect(html`${"a="}${"b"}`.toString()).toBe("a=b");
  });
});
