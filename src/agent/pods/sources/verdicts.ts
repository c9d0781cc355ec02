import type { Pod } from '../../../api/index.ts';
import { annotationOf, fullName, hashAnnotation } from '../names.ts';
import type { Fault } from './manifest.ts';

/** The agent's verdict on a file in the folder of manifests. */
export interface Verdict {
  /** Its name. */
  readonly file: string;
  /**
   * `accepted`: its pod counts. `waiting`: it is being written. `invalid`: it has faults. `duplicate`: another file has a
   * pod of that name. `ignored`: it is not meant to be a manifest.
   */
  readonly state: 'accepted' | 'waiting' | 'invalid' | 'duplicate' | 'ignored';
  /** What is wrong with it, or why it is ignored. */
  readonly faults: readonly Fault[];
  /** Problems that do not prevent acceptance. */
  readonly warnings: readonly string[];
  /** The pod that counts because of this file: its own, or the last good one while the file is not valid. */
  readonly pod?: Pod;
  /** RFC 3339; when this was found. */
  readonly since: string;
}

/** Of several files with the same pod, by its name or its uid, the first by name has it; the others become `duplicate`. */
export function rejectDuplicates(verdicts: readonly Verdict[]): Verdict[] {
  const owners = new Map<string, string>();
  return verdicts.map((verdict) => {
    const { pod, file } = verdict;
    if (pod === undefined) return verdict;
    const keys = [
      ['metadata.name', fullName(pod)],
      ['metadata.uid', `with the uid ${pod.metadata?.uid ?? ''}`],
    ] as const;
    const taken = keys.find(([, key]) => owners.has(key));
    if (taken === undefined) {
      for (const [, key] of keys) owners.set(key, file);
      return verdict;
    }
    const { pod: _its, ...rest } = verdict;
    const [field, key] = taken;
    const message = `${owners.get(key)} has a pod ${key} already`;
    return { ...rest, state: 'duplicate', faults: [{ field, message }, ...rest.faults] };
  });
}

/** One line for the log. */
export function formatVerdict({ file, state, faults, warnings, pod }: Verdict): string {
  const faultTexts = faults.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  const text = [...faultTexts, ...warnings].join('; ');
  const hash = pod === undefined ? '' : (annotationOf(pod, hashAnnotation) ?? '').slice(0, 8);
  const whose = pod === undefined ? '' : `, pod ${fullName(pod)} (${hash})`;
  const kept = state === 'accepted' || pod === undefined ? '' : '; what it said before still counts';
  return `manifest ${file}${whose} is ${state}${text === '' ? '' : `: ${text}`}${kept}`;
}

/** A manifest that is not used as it is, or a source of manifests of which that is so. */
export interface RefusedManifest {
  /** `NAMESPACE/NAME` of the pod that counts because of it all the same. */
  readonly pod?: string;
  /** What is wrong. */
  readonly message: string;
}

const maxRefused = 20;
const maxMessageLength = 1000;

/** For people who look for a pod: at most twenty, then how many more there are. */
export function listRefused(
  verdicts: readonly Verdict[],
  problems: readonly (string | undefined)[],
): RefusedManifest[] {
  const refused = verdicts.filter(({ state }) => state === 'invalid' || state === 'duplicate');
  const all = [
    ...problems.flatMap((message) => (message === undefined ? [] : [{ message }])),
    ...refused.map((verdict) => ({
      ...(verdict.pod === undefined ? {} : { pod: fullName(verdict.pod) }),
      message: formatVerdict(verdict).slice(0, maxMessageLength),
    })),
  ];
  const more = all.length - maxRefused;
  return more <= 0 ? all : [...all.slice(0, maxRefused), { message: `${more} more: GET /staticpods` }];
}
