import type { Pod } from '../../api/index.ts';
import type { Fault } from './manifest.ts';
import { annotationOf, fullName, hashAnnotation } from './names.ts';

/** What became of a file in the folder of manifests. */
export interface Verdict {
  /** Its name. */
  readonly file: string;
  /**
   * `accepted`: its pod counts. `waiting`: it is being written. `invalid`: something is wrong with it. `duplicate`: another
   * file has a pod of that name. `ignored`: it is meant to be none.
   */
  readonly state: 'accepted' | 'waiting' | 'invalid' | 'duplicate' | 'ignored';
  /** What is wrong with it, or why it is ignored. */
  readonly faults: readonly Fault[];
  /** What should be known of it, though it is accepted. */
  readonly warnings: readonly string[];
  /** The pod that counts now because of this file: its own, or while something is wrong with it the last good one. */
  readonly pod?: Pod;
  /** RFC 3339; when this was found. */
  readonly since: string;
}

/** Of several files with one pod the first by name has it; the others are told so. */
export function withoutDuplicates(verdicts: readonly Verdict[]): Verdict[] {
  const owners = new Map<string, string>();
  return verdicts.map((verdict) => {
    const { pod, file } = verdict;
    if (pod === undefined) return verdict;
    const owner = owners.get(fullName(pod));
    owners.set(fullName(pod), owner ?? file);
    if (owner === undefined) return verdict;
    const { pod: _its, ...rest } = verdict;
    const message = `${owner} has a pod ${fullName(pod)} already`;
    return { ...rest, state: 'duplicate', faults: [{ field: 'metadata.name', message }, ...rest.faults] };
  });
}

/** One line for the log. */
export function verdictText({ file, state, faults, warnings, pod }: Verdict): string {
  const told = faults.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  const text = [...told, ...warnings].join('; ');
  const hash = pod === undefined ? '' : (annotationOf(pod, hashAnnotation) ?? '').slice(0, 8);
  const whose = pod === undefined ? '' : `, pod ${fullName(pod)} (${hash})`;
  const kept = state === 'accepted' || pod === undefined ? '' : '; what it said before still counts';
  return `manifest ${file}${whose} is ${state}${text === '' ? '' : `: ${text}`}${kept}`;
}
