import { isRecord, tryParseJson } from '../../base/index.ts';
import type { ApiObject } from '../kinds/index.ts';
import { PatchError } from '../patch/index.ts';
import type { StructType } from '../schema/index.ts';
import { checkerOf } from '../schema/index.ts';
import { sortTexts } from './byte-order.ts';
import { collectFields } from './collect-fields.ts';
import { comparatorFor, withoutDelta } from './compare.ts';
import { jsonText } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { toTrackedType } from './tracked-type.ts';
import type { Writer } from './types.ts';

/*
 * The migration from client-side apply, where kubectl keeps what it has applied in an annotation, to server-side apply.
 * Only the manager `kubectl` migrates.
 */

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const migratingManager = 'kubectl';
const annotationsLimitBytes = 256 * 1024;

/** Fields exempt from conflicts: those that have the same value in the annotation and in the live object. */
export function findExemptFields(type: StructType, live: ApiObject, writer: Writer): FieldSet | undefined {
  const text = live.metadata?.annotations?.[lastAppliedAnnotation] ?? '';
  const applied = writer.manager === migratingManager && text !== '' ? tryParseJson(text) : undefined;
  if (!isRecord(applied) || applied['apiVersion'] !== writer.apiVersion) return undefined;
  const findings = { unknown: [], wrong: [] };
  const known = checkerOf(type)(applied, undefined, findings);
  if (findings.unknown.length + findings.wrong.length > 0) return undefined;
  const tracked = toTrackedType(type);
  const delta = comparatorFor(tracked)(known, live);
  return withoutDelta(collectUniqueFields(tracked, known), delta);
}

function collectUniqueFields(type: StructType, value: unknown): FieldSet | undefined {
  try {
    return collectFields(type, value, { unique: true });
  } catch (error) {
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

/** Updates the annotation of an object that has one; removes it when the annotations would exceed their limit. */
export function updateLastApplied<T extends ApiObject>(object: T, configuration: T, writer: Writer): T {
  const { metadata } = object;
  if (writer.manager !== migratingManager || !metadata?.annotations?.[lastAppliedAnnotation]) return object;
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

/** JSON as Go writes it: with sorted keys. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isRecord(value)) return jsonText(value);
  const fields = sortTexts(Object.keys(value))
    .filter((key) => value[key] !== undefined)
    .map((key) => `${jsonText(key)}:${sortedJson(value[key])}`);
  return `{${fields.join(',')}}`;
}
