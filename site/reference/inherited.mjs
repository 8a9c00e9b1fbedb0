// A plugin of TypeDoc: a member that a type inherits is documented once, where it is declared. The
// type names it, with a link.

/** Types that leave a few options of another type out, so TypeDoc doesn't see where the rest is. */
const OMITTING = { NextIdpAuthOptions: "IdpAuthOptions" };

/** What applications call: its page has every member, wherever it is declared. */
const WHOLE = "AdapterAuth";

/** @typedef {import("typedoc").DeclarationReflection} Declaration */

/**
 * @param {import("typedoc").Application} app
 */
export function load(app) {
  // After TypeDoc has linked inherited members, and before it looks for missing docstrings.
  app.converter.on("resolveEnd", ({ project }) => {
    const types = /** @type {Declaration[]} */ (
      Object.values(project.reflections).filter(
        (one) => "children" in one && !one.isProject() && one.name !== WHOLE,
      )
    );
    /** @type {Map<Declaration, Declaration[]>} */
    const inherited = new Map();
    for (const type of types) {
      const base = types.find(({ name }) => name === /** @type {any} */ (OMITTING)[type.name]);
      for (const member of type.children ?? []) {
        const origin =
          /** @type {Declaration | undefined} */ (member.inheritedFrom?.reflection) ??
          (member.inheritedFrom && base?.children?.find(({ name }) => name === member.name));
        if (origin === undefined || isComputed(member)) continue;
        inherited.set(type, [...(inherited.get(type) ?? []), member]);
        links.set(member, origin);
      }
    }
    for (const [type, members] of inherited) {
      const named = members.flatMap((member, index) => [
        { kind: /** @type {const} */ ("text"), text: index === 0 ? "\n\nInherited: " : ", " },
        {
          kind: /** @type {const} */ ("inline-tag"),
          tag: /** @type {const} */ ("@link"),
          text: member.name,
          target: targetOf(member),
        },
      ]);
      type.comment?.summary.push(...named, { kind: "text", text: "." });
    }
    for (const member of [...inherited.values()].flat()) project.removeReflection(member);
  });
}

/** @type {Map<Declaration, Declaration>} an inherited member -> the one it repeats */
const links = new Map();

/**
 * @param {Declaration} member
 * @returns {Declaration} the first declaration of it, which stays
 */
function targetOf(member) {
  const origin = links.get(member);
  return origin === undefined ? member : targetOf(origin);
}

/** @param {Declaration} member */
function isComputed({ name }) {
  return name.startsWith("[");
}
