import { posix } from 'node:path';

/** Backup and temporary files of editors and other writers: `a~`, `a.swp`, `#a#`, `a.tmp`, `a.bak`. */
const temporaryName = /(~|\.sw[a-z]|#|\.tmp|\.temp|\.bak|\.orig|\.rej|\.part)$/i;
const maxPathLength = 4096;

/**
 * Whether a file counts as a profile although no pod names it: `*.json`, with no part of its path beginning with a dot or
 * `#`. The folder may hold other files, such as notes, and hidden files are not meant for use yet.
 */
export function isProfileName(path: string): boolean {
  const parts = path.split('/');
  if (parts.some((part) => part.startsWith('.') || part.startsWith('#'))) return false;
  return path.endsWith('.json') && !temporaryName.test(path);
}

/**
 * Normalizes a path that a pod names to the form of the folder's list; undefined when it cannot be inside the folder. Any
 * file name is allowed, as in the reference.
 */
export function normalizeProfilePath(path: string): string | undefined {
  if (path === '' || path.length > maxPathLength || path.includes('\0') || posix.isAbsolute(path))
    return undefined;
  if (path.split('/').includes('..')) return undefined;
  const normal = posix.normalize(path);
  return normal === '.' || normal.endsWith('/') ? undefined : normal;
}
