import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseUserNamespace } from '../../../../src/agent/assembly/user-ids.ts';

test('a pod is refused a user namespace in the words of the reference', () => {
  const handler = (name: string, userNamespaces: boolean) => ({
    ...{ name, userNamespaces, recursiveReadOnlyMounts: false },
  });
  const handlers = [handler('', true), handler('old', false)];
  refuseUserNamespace('', { handlers });
  const why = "can't set `spec.hostUsers: false`, ";
  const cases: [name: string, known: typeof handlers | undefined, message: string][] = [
    ['old', handlers, `${why}RuntimeClass handler "old" does not support user namespaces`],
    ['', [handler('', false)], `${why}runtime does not support user namespaces`],
    ['', undefined, `${why}runtime does not support user namespaces: runtime handlers are not set`],
    [
      'new',
      handlers,
      `${why}RuntimeClass handler "new" does not support user namespaces: the handler "new" is not known`,
    ],
  ];
  for (const [name, known, message] of cases)
    assert.throws(() => refuseUserNamespace(name, known === undefined ? {} : { handlers: known }), {
      message,
    });
});
