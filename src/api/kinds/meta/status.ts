import type { Infer } from '../../schema/index.ts';
import { field, int32, list, string, struct } from '../../schema/index.ts';
import { listMeta } from './object-meta.ts';

const statusCause = struct('StatusCause', {
  reason: field(1, string, 'Why, for programs.'),
  message: field(2, string, 'Why, for people.'),
  field: field(3, string, 'The field that caused it.'),
});

const statusDetails = struct('StatusDetails', {
  name: field(1, string, 'Name of the object.'),
  group: field(2, string, 'Group of the object.'),
  kind: field(3, string, 'Resource of the object.'),
  causes: field(4, list(statusCause), 'Every cause of the failure.'),
  retryAfterSeconds: field(5, int32, 'Wait this long before trying again.'),
  uid: field(6, string, 'UID of the object.'),
});

/** The answer of an operation that returns no object: every error, and every deletion. */
export const status = struct(
  'Status',
  {
    apiVersion: field(0, string, 'v1.'),
    kind: field(0, string, 'Status.'),
    metadata: field(1, listMeta, 'List metadata.'),
    status: field(2, string, 'Success or Failure.'),
    message: field(3, string, 'What happened, for people.'),
    reason: field(4, string, 'What happened, for programs.'),
    details: field(5, statusDetails, 'More about the reason.'),
    code: field(6, int32, 'The HTTP status.'),
  },
  { home: 'meta/v1' },
);

export interface Status extends Infer<typeof status> {}
export interface StatusDetails extends Infer<typeof statusDetails> {}
export interface StatusCause extends Infer<typeof statusCause> {}
