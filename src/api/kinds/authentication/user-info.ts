import type { Infer } from '../../schema/index.ts';
import { field, list, map, string, struct } from '../../schema/index.ts';

/** The identity of a user for the server. */
export const userInfo = struct('UserInfo', {
  username: field(1, string, 'Name that identifies the user.'),
  uid: field(2, string, 'Identifies the user over time, where names are used again.'),
  groups: field(3, list(string), 'Groups that the user belongs to.'),
  extra: field(4, map(list(string)), 'What else the authenticator knows of the user.'),
});

export interface UserInfo extends Infer<typeof userInfo> {}
