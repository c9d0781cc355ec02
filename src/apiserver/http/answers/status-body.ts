import type { ObjectType, Status } from '../../../api/index.ts';
import { encodeObject, status } from '../../../api/index.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { jsonOf } from './indent.ts';

/** A Status as an object like others. */
export const statusType: ObjectType = { group: '', version: 'v1', kind: 'Status', root: status };

/** A Status in the encoding of a form; it has no other form. */
export function statusBody(told: Status, { encoding }: Form, pretty: boolean): Buffer {
  return encoding === 'json' ? jsonOf(told, pretty) : encodeObject(statusType, told, encoding);
}
