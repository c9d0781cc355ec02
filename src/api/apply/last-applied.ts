import { isRecord, tryParseJson } from '../../base/index.ts';
import type { ApiObject } from '../kinds/index.ts';
import { PatchError } from '../patch/index.ts';
import type { StructType } from '../schema/index.ts';
import { checkerOf } from '../schema/index.ts';
import { sortedTexts } from './byte-order.ts';
import { comparisonOf, withoutDelta } from './compare.ts';
import { jsonText } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { fieldsOf } from './of-value.ts';
import { trackedPart } from './tracked.ts';
import type { Writer } from './types.ts';

/*
 * The way from client-side apply, where kubectl keeps what it has applied in an annotation, to server-side apply. Only
 * the manager `kubectl` goes it.
 */

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const migrating = 'kubectl';
const annotationsLimitBytes = 256 * 1024;

/** Fields whose conflicts are forgiven: those that the annotation has with the value that they have. */
export function forgivenFields(type: StructType, live: ApiObject, writer: Writer): FieldSet | undefined {
  const text = live.metadata?.annotations?.[lastAppliedAnnotation] ?? '';
  const applied = writer.manager === migrating && text !== '' ? tryParseJson(text) : undefined;
  if (!isRecord(applied) || applied['apiVersion'] !== writer.apiVersion) return undefined;
  const findings = { unknown: [], wrong: [] };
  const known = checkerOf(type)(applied, undefined, findings);
  if (findings.unknown.length + findings.wrong.length > 0) return undefined;
  const tracked = trackedPart(type);
  const delta = comparisonOf(tracked)(known, live);
  return withoutDelta(uniqueFieldsOf(tracked, known), delta);
}

function uniqueFieldsOf(type: StructType, value: unknown): FieldSet | undefined {
  try {
    return fieldsOf(type, value, { unique: true });
  } catch (error) {
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

/** The object with its annotation brought up to date, if it has one; without it when there is no room. */
export function withLastApplied<T extends ApiObject>(object: T, configuration: T, writer: Writer): T {
  const { metadata } = object;
  if (writer.manager !== migrating || !metadata?.annotations?.[lastAppliedAnnotation]) return object;
  const { [lastAppliedAnnotation]: _, ...others } = metadata.annotations;
  const text = `${sortedJson(withoutAnnotation(configuration))}\n`;
  const annotations = { ...others, [lastAppliedAnnotation]: text };
  const fits = sizeOf(annotations) <= annotationsLimitBytes;
  return { ...object, metadata: { ...metadata, annotations: fits ? annotations : others } };
}

function withoutAnnotation<T extends ApiObject>(configuration: T): T {
  const { metadata } = configuration;
  if (metadata?.annotations === undefined) return configuration;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations;
  return { ...configuration, metadata: { ...metadata, annotations } };
}

function sizeOf(annotations: Readonly<Record<string, string>>): number {
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
}

/** As Go writes it: with the keys in order. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isRecord(value)) return jsonText(value);
  const fields = sortedTexts(Object.keys(value))
    .filter((key) => value[key] !== undefined)
    .map((key) => `${jsonText(key)}:${sortedJson(value[key])}`);
  return `{${fields.join(',')}}`;
}
