import { readStoredLabels } from '../../../api/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { Selectors } from './list-selectors.ts';
import type { SharedReads } from './shared-reads.ts';

type Readable = Pick<Resource, 'encoding'>;

/** Whether an object is selected. */
export type MatchStored = (stored: Stored) => boolean;

/**
 * Tests the objects of a list, each of them once. Labels are read from the stored bytes; only those that they select are
 * parsed, where fields decide too.
 */
export function listMatcher({ encoding }: Readable, { labels, fields, isByLabels }: Selectors): MatchStored {
  return (stored) => {
    const at = encoding.metadataAt(stored);
    const found = at === 0 ? undefined : readStoredLabels(stored.value, at, labels.keys);
    if (found !== undefined && !labels.matchesLabels(found)) return false;
    if (found !== undefined && isByLabels) return true;
    const object = encoding.read(stored);
    return labels.matches(object) && fields.matches(object);
  };
}

/** Tests the objects of the events of a watch. What is read of an object is shared by all watches. */
export function watchMatcher(
  resource: Readable,
  { labels, fields, isByLabels }: Selectors,
  reads: SharedReads,
): MatchStored {
  const hasLabels = labels.requirements.length > 0;
  return (stored) => {
    if (hasLabels && !labels.matchesLabels(reads.labels(resource, stored))) return false;
    return isByLabels || fields.matches(reads.object(resource, stored));
  };
}
