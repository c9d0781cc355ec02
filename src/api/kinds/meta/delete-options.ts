import type { Infer } from '../../schema/index.ts';
import { bool, field, int64, list, string, struct } from '../../schema/index.ts';
import { defineBody } from '../define.ts';

const preconditions = struct('Preconditions', {
  uid: field(1, string, 'UID that the object must have.', { pointer: true }),
  resourceVersion: field(2, string, 'Version that the object must have.', { pointer: true }),
});

/** How something is deleted: the body of every DELETE, where there is one. */
export const deleteOptions = struct(
  'DeleteOptions',
  {
    apiVersion: field(0, string, 'v1.'),
    kind: field(0, string, 'DeleteOptions.'),
    gracePeriodSeconds: field(1, int64, 'Seconds until the object may be removed; 0 means at once.', {
      pointer: true,
    }),
    preconditions: field(2, preconditions, 'What must be so, else 409.'),
    orphanDependents: field(3, bool, 'Deprecated; propagationPolicy says the same.', { pointer: true }),
    propagationPolicy: field(4, string, 'What becomes of dependents: Orphan, Background or Foreground.', {
      pointer: true,
    }),
    dryRun: field(5, list(string), 'All: do everything but persist it.'),
    ignoreStoreReadErrorWithClusterBreakingPotential: field(
      6,
      bool,
      'Delete also what cannot be read; not supported here, and passed over.',
      { pointer: true },
    ),
  },
  { home: 'meta/v1' },
);

export interface DeleteOptions extends Infer<typeof deleteOptions> {}

/** The body of a deletion; its apiVersion is `v1`, `meta.k8s.io/v1` or that of the deleted object. */
export const deleteOptionsBody = defineBody<DeleteOptions>({
  group: 'meta',
  version: 'v1',
  kind: 'DeleteOptions',
  doc: 'How something is deleted.',
  root: deleteOptions,
});
