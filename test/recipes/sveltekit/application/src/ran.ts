/** What was run for a member, for the test to see. */
export const ran: string[] = [];
