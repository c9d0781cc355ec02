import type { TextBody } from '../../../api/index.ts';
import { DecodeError, formatComplaints, isRecord, parseText, unknownMembers } from '../../../api/index.ts';

/** A patch other than an apply, with its complaints for field validation (specification, section 4.8). */
export type GivenPatch = { complaints: readonly string[] } & (
  | { format: 'json'; value: unknown }
  | { format: 'merge' | 'strategic'; value: Readonly<Record<string, unknown>> }
);

/** Decodes the patch in a body; throws DecodeError. A JSON Patch is validated when it is applied. */
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
