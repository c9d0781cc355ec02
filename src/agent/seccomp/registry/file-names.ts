import { posix } from 'node:path';

/** What editors and writers leave behind or write first: `a~`, `a.swp`, `#a#`, `a.tmp`, `a.bak`. */
const leftover = /(~|\.sw[a-z]|#|\.tmp|\.temp|\.bak|\.orig|\.rej|\.part)$/i;
const maxPathLength = 4096;

/**
 * Whether a file counts as a profile although no pod names it: `*.json`, with no part of its path beginning with a dot.
 * The folder may hold other things, such as notes, and what is hidden is not meant yet.
 */
export function isProfileName(path: string): boolean {
  const parts = path.split('/');
  if (parts.some((part) => part.startsWith('.') || part.startsWith('#'))) return false;
  return path.endsWith('.json') && !leftover.test(path);
}

/**
 * How a path that a pod names stands in the folder's list; undefined where it cannot lie inside the folder. Any name will
 * do, as in the reference.
 */
export function normalizedProfile(path: string): string | undefined {
  if (path === '' || path.length > maxPathLength || path.includes('\0') || posix.isAbsolute(path))
    return undefined;
  if (path.split('/').includes('..')) return undefined;
  const normal = posix.normalize(path);
  return normal === '.' || normal.endsWith('/') ? undefined : normal;
}
