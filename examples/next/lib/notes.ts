/** In place of a database. */
export const notes: string[] = [];
