import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orphanOf } from '../../../../../src/agent/pods/worker/pod-names.ts';
import { running } from '../plan/support.ts';

const view = (...containers: ReturnType<typeof running>[]) => ({
  ...{ uid: 'u', namespace: 'default', name: 'web', sandboxes: [] },
  containers,
});
const annotated = (annotations: Record<string, string>) => ({ ...running('main'), annotations });

test('a pod of which only the runtime knows has the preStop hooks that are written on its containers', () => {
  const { spec } = orphanOf(
    view(
      annotated({
        'io.kubernetes.container.preStopHandler': '{"httpGet":{"path":"/stop","port":"http"}}',
        'io.kubernetes.container.ports': '[{"name":"http","containerPort":8080,"protocol":"TCP"}]',
      }),
      running('other'),
    ),
    1,
  );
  assert.equal(spec?.terminationGracePeriodSeconds, 1);
  const [other, main] = spec?.containers ?? [];
  assert.deepEqual([other?.name, other?.lifecycle], ['other', undefined]);
  assert.deepEqual(main?.lifecycle, { preStop: { httpGet: { path: '/stop', port: 'http' } } });
  assert.equal(main?.ports?.[0]?.containerPort, 8080);
});

for (const text of ['', '{', '7', '{"exec":7}'])
  test(`a hook that cannot be read is none: ${JSON.stringify(text)}`, () => {
    const { spec } = orphanOf(view(annotated({ 'io.kubernetes.container.preStopHandler': text })), 1);
    assert.deepEqual(spec?.containers, [{ name: 'main' }]);
  });
