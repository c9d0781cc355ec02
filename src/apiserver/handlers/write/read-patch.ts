import type { TextBody } from '../../../api/index.ts';
import { DecodeError, formatComplaints, isRecord, parseText, unknownMembers } from '../../../api/index.ts';

/** A patch other than an apply, and what is said about it when fields are validated (specification, section 4.8). */
export type GivenPatch = { complaints: readonly string[] } & (
  | { format: 'json'; value: unknown }
  | { format: 'merge' | 'strategic'; value: Readonly<Record<string, unknown>> }
);

/** The patch in a body; throws DecodeError. Whether it is a JSON Patch is found out when it is applied. */
export function readPatch(format: GivenPatch['format'], body: TextBody): GivenPatch {
  const { value, duplicates } = parseText(body);
  const doubled = formatComplaints('duplicate', duplicates);
  if (format === 'json') {
    const complaints = [...formatComplaints('unknown', unknownMembers(value)), ...doubled];
    return { format, value, complaints: complaints.map((text) => `json patch ${text}`) };
  }
  if (!isRecord(value)) throw new DecodeError(`a ${format} patch is an object with the fields to change`);
  return { format, value, complaints: doubled };
}
