import type { FoundProfile, Judgement } from '../index.ts';
import { normalizeProfilePath } from './file-names.ts';
import { readProfile } from './read-profile.ts';

export interface FinderOptions {
  folder: string;
  judge: (bytes: Uint8Array) => Judgement | Promise<Judgement>;
  limitBytes: number;
}

/** How often a file is read again that changes while it is read. */
const maxTries = 5;

/**
 * Reads a profile when a container is to be created, for `resolveSeccomp`: its present content, regardless of earlier
 * verdicts. The runtime reads the file itself later, so a change in between takes effect unchecked.
 */
export function createProfileFinder(
  options: FinderOptions,
): (localhostProfile: string) => Promise<FoundProfile> {
  const { folder, judge, limitBytes } = options;
  return async (localhostProfile) => {
    const path = normalizeProfilePath(localhostProfile);
    if (path === undefined) return { kind: 'refused', reason: 'its path does not lie inside the folder' };
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await readProfile(folder, path, limitBytes);
      if (found.kind === 'missing' || found.kind === 'refused') return found;
      if (found.kind === 'found') {
        return { kind: 'found', path: found.real, judgement: await judge(found.bytes) };
      }
    }
    return { kind: 'refused', reason: 'it is being written just now' };
  };
}
