import { StatusError } from '../../../api/index.ts';
import { notYetThere } from '../../registry/index.ts';
import { versionParameter } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';

/** How new the state must be that a read shows (specification, section 4.7). */
export type ReadVersion =
  /** Most Recent: with everything that was written before the request came. */
  { readonly at: 'newest' } | { readonly at: 'any' } | { readonly at: 'notOlder'; readonly revision: number };

/** How long a version may take to come. */
const waitLimitMs = 3000;

/** What `resourceVersion` means where nothing else is said; throws 400. */
export function readVersion(query: URLSearchParams): ReadVersion {
  const revision = versionParameter(query);
  if (revision === undefined) return { at: 'newest' };
  return revision === 0 ? { at: 'any' } : { at: 'notOlder', revision };
}

/** Waits until memory shows a state that is new enough; throws 504 when that does not come within 3 s. */
export async function settle(request: ApiRequest, version: ReadVersion): Promise<void> {
  const { storage } = request.resource;
  if (version.at === 'any') return;
  if (version.at === 'notOlder') {
    if (!(await reached(request, version.revision))) throw tooLarge(version.revision, storage.applied);
  } else if (!(await reached(request, await storage.revision()))) {
    throw notYetThere();
  }
}

async function reached(request: ApiRequest, revision: number): Promise<boolean> {
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

/** 504 for a version of the future: perhaps of another store, perhaps of a server that is ahead of this one. */
export function tooLarge(revision: number, current: number): StatusError {
  return new StatusError('Timeout', `Too large resource version: ${revision}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}
