import { StatusError } from '../../../api/index.ts';
import { createOutdatedError } from '../../registry/index.ts';
import { parseVersion } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';

/** How recent the state of a read must be (specification, section 4.7). */
export type ReadVersion =
  /** Most Recent: with everything that was written before the request arrived. */
  { readonly at: 'newest' } | { readonly at: 'any' } | { readonly at: 'notOlder'; readonly revision: number };

/** How long a request waits for a version. */
const waitLimitMs = 3000;

/** The meaning of `resourceVersion` without further parameters; throws 400. */
export function readVersion(query: URLSearchParams): ReadVersion {
  const revision = parseVersion(query);
  if (revision === undefined) return { at: 'newest' };
  return revision === 0 ? { at: 'any' } : { at: 'notOlder', revision };
}

/** Waits until the state in memory is recent enough; throws 504 when that takes more than 3 s. */
export async function settle(request: ApiRequest, version: ReadVersion): Promise<void> {
  const { storage } = request.resource;
  if (version.at === 'any') return;
  if (version.at === 'notOlder') {
    if (!(await waitForRevision(request, version.revision)))
      throw tooLarge(version.revision, storage.applied);
  } else if (!(await waitForRevision(request, await storage.revision()))) {
    throw createOutdatedError();
  }
}

async function waitForRevision(request: ApiRequest, revision: number): Promise<boolean> {
  const { storage } = request.resource;
  if (revision <= storage.applied) return true;
  const [late, done] = [new AbortController(), new AbortController()];
  void request.clock.sleep(waitLimitMs, done.signal).then(() => late.abort());
  try {
    return (await storage.waitFor(revision, AbortSignal.any([request.signal(), late.signal]))) === 'ready';
  } finally {
    done.abort();
  }
}

/** 504 for a version of the future: of another store, or of a server that is ahead of this one. */
export function tooLarge(revision: number, current: number): StatusError {
  return new StatusError('Timeout', `Too large resource version: ${revision}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}
