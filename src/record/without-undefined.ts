/** The type of an object without its undefined members: those that can be undefined are optional. */
export type WithoutUndefined<Members extends object> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** Returns a copy of the object's own members that aren't undefined. */
export function withoutUndefined<const Members extends object>(
  members: Members,
): WithoutUndefined<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined),
  ) as WithoutUndefined<Members>;
}
