import type { FoundProfile, Judgement } from '../index.ts';
import { normalizedProfile } from './file-names.ts';
import { readProfile } from './read-profile.ts';

export interface FinderOptions {
  folder: string;
  judge: (bytes: Uint8Array) => Judgement | Promise<Judgement>;
  limitBytes: number;
}

/** A file that changes while it is read is read again so often. */
const tries = 5;

/**
 * Looks for a profile when a container is to be made, for `resolveSeccomp`: as it is now, whatever was known of it. The
 * runtime reads the file itself later; what is put there in between it takes.
 */
export function profileFinder(options: FinderOptions): (localhostProfile: string) => Promise<FoundProfile> {
  const { folder, judge, limitBytes } = options;
  return async (localhostProfile) => {
    const path = normalizedProfile(localhostProfile);
    if (path === undefined) return { kind: 'refused', reason: 'its path does not lie inside the folder' };
    for (let turn = 0; turn < tries; turn += 1) {
      const found = await readProfile(folder, path, limitBytes);
      if (found.kind === 'missing' || found.kind === 'refused') return found;
      if (found.kind === 'found') {
        return { kind: 'found', path: found.real, judgement: await judge(found.bytes) };
      }
    }
    return { kind: 'refused', reason: 'it is being written just now' };
  };
}
