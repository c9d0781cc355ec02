import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The messages of a group and version; test/golden/make/published.ts has read them from the published definitions. */
interface PublishedGroup {
  /** The kinds that are stored. */
  kinds: readonly string[];
  /** `metadata=1 spec=2`, by the name of the message. */
  fields: Readonly<Record<string, string>>;
}

/** By `apps/v1`, as the folders of the reference are named. */
export const published: Readonly<Record<string, PublishedGroup>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../golden/published.json'), 'utf8'),
);

/** `rbac/v1` of `rbac.authorization` and `v1`. */
export function publishedGroup(group: string, version: string): string {
  return `${group === '' ? 'core' : group.split('.', 1)[0]}/${version}`;
}

/** The numbers of a message's fields; undefined where the group has no such message. */
export function publishedNumbers(group: string, version: string, message: string): string | undefined {
  return published[publishedGroup(group, version)]?.fields[message];
}
