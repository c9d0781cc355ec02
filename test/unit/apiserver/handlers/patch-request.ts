import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import type { statusReasons } from '../../../../src/api/index.ts';
import type { ApiTester, Reply, Shown } from '../support/index.ts';
import { configMaps, named, objectIn, startServer } from '../support/index.ts';

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
type Sort = keyof typeof patchTypes;

/** Sends patches as one identity. */
export function patcher(client: ApiTester) {
  const send = (sort: Sort, path: string, patch: unknown, headers: Record<string, string> = {}) => {
    const body = typeof patch === 'string' ? patch : JSON.stringify(patch);
    return {
      method: 'PATCH',
      path,
      send: { body, headers: { 'content-type': patchTypes[sort], ...headers } },
    };
  };
  return {
    /** The answer, whatever it is. */
    async request(
      sort: Sort,
      path: string,
      patch: unknown,
      headers?: Record<string, string>,
    ): Promise<Reply> {
      const sent = send(sort, path, patch, headers);
      return await client.request(sent.method, sent.path, sent.send);
    },
    /** A patch that must succeed; the object that was answered. */
    async must(sort: Sort, path: string, patch: unknown): Promise<Shown> {
      const reply = await this.request(sort, path, patch);
      assert.equal(reply.code, 200, `PATCH ${path}: ${reply.text}`);
      return objectIn(reply);
    },
    /** A patch that must be refused for this reason. */
    async refused(reason: keyof typeof statusReasons, sort: Sort, path: string, patch: unknown) {
      const sent = send(sort, path, patch);
      return await client.refused(reason, sent.method, sent.path, sent.send);
    },
  };
}

/** The Warning headers of an answer. */
export function warningsOf({ rawHeaders }: Reply): string[] {
  return rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'warning');
}

/** A server whose ConfigMap `settings` is as new before each test of the file. */
export async function patchLab() {
  const server = await startServer();
  after(() => server[Symbol.asyncDispose]());
  const { admin } = server;
  const maps = configMaps('default');
  const map = `${maps}/settings`;
  let before = await renewed(admin);
  beforeEach(async () => {
    before = await renewed(admin);
  });
  return {
    server,
    admin,
    patch: patcher(admin),
    maps,
    map,
    /** The ConfigMap as it was before the test. */
    get before(): Shown {
      return before;
    },
    /** Fails unless nothing of the ConfigMap has changed, not even its version. */
    async assertUntouched(): Promise<void> {
      assert.deepEqual(await admin.must('GET', map), before);
    },
  };
}

/** The data of a ConfigMap. */
export const dataOf = (object: Shown): unknown => Reflect.get(object, 'data');

/** The ConfigMap `settings` of the namespace `default`, made anew. */
async function renewed(client: ApiTester): Promise<Shown> {
  const maps = configMaps('default');
  await client.request('DELETE', `${maps}/settings`);
  return await client.must('POST', maps, {
    ...named('settings', { labels: { tier: 'back' }, annotations: { note: 'n' } }),
    data: { a: '1', b: '2' },
  });
}
