import { StatusError } from '../../api/index.ts';
import { versionParameter } from './parameters.ts';
import type { Answer, ApiRequest } from './request.ts';

const waitLimitMs = 3000;

/** GET of an object: the newest state; with a resourceVersion, one not older than it. */
export async function get(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name } = request;
  await untilNotOlder(request, versionParameter(request.query));
  return {
    form: 'object',
    code: 200,
    type: resource.kind,
    json: resource.encoding.show(resource.get(namespace, name)),
    warnings: [],
  };
}

/** Waits until the cache has a version; throws 504 when it does not come within 3 s. */
export async function untilNotOlder(request: ApiRequest, revision: number | undefined): Promise<void> {
  const { storage } = request.resource;
  if (revision === undefined || revision <= storage.applied) return;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(waitLimitMs)]);
  if ((await storage.waitFor(revision, signal)) === 'ready') return;
  const message = `Too large resource version: ${revision}, current: ${storage.applied}`;
  throw new StatusError('Timeout', message, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}
