// Finds the types that an exported signature names and that an application can't import.
import ts from "typescript";

/**
 * @typedef {object} UnexportedType
 * @property {string} entry whose signature names it
 * @property {string} type
 * @property {string[]} namedBy the exports of the entry
 */

/**
 * A type can be imported from the entry whose signature names it, or from one that the application
 * has anyway. What nobody writes down needs no name of its own, so the signature counts as if it
 * were written out there: the base of an interface, the type that an alias stands for, and a type
 * that its module keeps to itself.
 *
 * @param {ReadonlyMap<string, string>} entries name, such as `idpauth/koa` -> its file of types
 * @param {(entry: string) => readonly string[]} sharedBy further entries to import its types from
 * @returns {UnexportedType[]}
 */
export function unexportedTypes(entries, sharedBy) {
  const program = ts.createProgram([...entries.values()], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    types: ["node"],
    skipLibCheck: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();

  const resolved = (/** @type {ts.Symbol} */ symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  /** @type {Map<ts.SourceFile, ts.Symbol[]>} */
  const known = new Map();
  const exportsOf = (/** @type {ts.SourceFile | undefined} */ file) => {
    const module = file && checker.getSymbolAtLocation(file);
    if (file === undefined || module === undefined) return [];
    const exported = known.get(file) ?? checker.getExportsOfModule(module).map(resolved);
    known.set(file, exported);
    return exported;
  };
  const fileOf = (/** @type {string} */ entry) => program.getSourceFile(entries.get(entry) ?? "");

  /**
   * The types of the package that a declaration names, without those that need no name.
   * @param {ts.Symbol} symbol
   * @param {Set<ts.Symbol>} seen
   * @returns {ts.Symbol[]}
   */
  const typesIn = (symbol, seen) => {
    if (seen.has(symbol)) return [];
    seen.add(symbol);
    return (symbol.declarations ?? []).flatMap((declaration) =>
      [...namesIn(declaration)].flatMap(({ name, isWrittenOut }) => {
        const found = checker.getSymbolAtLocation(name);
        const type = found && resolved(found);
        const place = type?.declarations?.[0]?.parent;
        if (type === undefined || place === undefined || !ts.isSourceFile(place)) return [];
        const isOwn = !(
          program.isSourceFileFromExternalLibrary(place) ||
          program.isSourceFileDefaultLibrary(place)
        );
        if (!isOwn || !isType(type)) return [];
        return isWrittenOut || !exportsOf(place).includes(type) ? typesIn(type, seen) : [type];
      }),
    );
  };

  return [...entries.keys()].flatMap((entry) => {
    const exported = exportsOf(fileOf(entry));
    const importable = new Set([
      ...exported,
      ...sharedBy(entry).flatMap((other) => exportsOf(fileOf(other))),
    ]);
    /** @type {Map<string, Set<string>>} */
    const missing = new Map();
    for (const symbol of exported)
      for (const type of typesIn(symbol, new Set()))
        if (!importable.has(type))
          missing.set(type.name, (missing.get(type.name) ?? new Set()).add(symbol.name));
    return [...missing].map(([type, namedBy]) => ({ entry, type, namedBy: [...namedBy] }));
  });
}

/** @param {ts.Symbol} symbol */
function isType({ flags }) {
  return (flags & ts.SymbolFlags.Type) !== 0 && (flags & ts.SymbolFlags.TypeParameter) === 0;
}

/**
 * The names of types in a declaration. `isWrittenOut`: of what the declaration extends, or is
 * another name for.
 *
 * @param {ts.Node} node
 * @returns {Generator<{ name: ts.Node, isWrittenOut: boolean }>}
 */
function* namesIn(node) {
  const isPrivate =
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true;
  if (isPrivate || ts.isBlock(node)) return;
  if (ts.isTypeReferenceNode(node)) {
    const { typeName, parent } = node;
    yield {
      name: ts.isIdentifier(typeName) ? typeName : typeName.right,
      isWrittenOut: ts.isTypeAliasDeclaration(parent),
    };
  } else if (ts.isExpressionWithTypeArguments(node))
    yield { name: node.expression, isWrittenOut: true };
  /** @type {ts.Node[]} */
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* namesIn(child);
}
