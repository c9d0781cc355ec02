import type { ObjectType, Status } from '../../../api/index.ts';
import { encodeObject, status } from '../../../api/index.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { renderJson } from './indent.ts';

/** Describes Status like the type of any other object. */
export const statusType: ObjectType = { group: '', version: 'v1', kind: 'Status', root: status };

/** A Status in the encoding of a form. It is never a table or partial metadata. */
export function renderStatus(failure: Status, { encoding }: Form, pretty: boolean): Buffer {
  return encoding === 'json' ? renderJson(failure, pretty) : encodeObject(statusType, failure, encoding);
}
