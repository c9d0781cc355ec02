import type { ApiObject } from '../kind.ts';

/* What the tables of storage have in common. */

const shortModes: readonly [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** The modes that a volume or claim can have. */
export const accessModes = shortModes.map(([mode]) => mode).sort();

/** `RWO,ROX`. */
export function formatModes(modes: readonly string[] | undefined): string {
  const named = shortModes.filter(([mode]) => modes?.includes(mode));
  return named.map(([, short]) => short).join(',');
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** The name of a class as it was said before there was a field for it. */
export function classInAnnotation({ metadata }: ApiObject): string | undefined {
  return metadata?.annotations?.[classAnnotation];
}

/** The class of a volume or claim; empty for none. */
export function classNameOf(object: ApiObject & { spec?: { storageClassName?: string } }): string {
  return classInAnnotation(object) ?? object.spec?.storageClassName ?? '';
}

/** The phase, or that it is being deleted. */
export function phaseOf({ metadata, status }: ApiObject & { status?: { phase?: string } }): string {
  return metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating';
}
