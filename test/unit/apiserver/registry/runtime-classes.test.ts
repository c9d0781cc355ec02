/** What a RuntimeClass gives the pods that are made with it, and which pods are refused because of one. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const classes = '/apis/node.k8s.io/v1/runtimeclasses';
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object) => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
});
const makeClass = (name: string, more: object = {}) =>
  admin.must('POST', classes, { metadata: { name }, handler: 'runc', ...more });
const refusal = async (body: object) => (await admin.refused('Forbidden', 'POST', pods, { body })).message;

describe('a pod with a RuntimeClass', () => {
  test('that is not there is refused', async () => {
    assert.equal(
      await refusal(pod('lost', { runtimeClassName: 'nowhere' })),
      'pods "lost" is forbidden: pod rejected: RuntimeClass "nowhere" not found',
    );
  });

  test('that adds nothing stays as it is', async () => {
    await makeClass('plain');
    const made = await admin.must('POST', pods, pod('plain', { runtimeClassName: 'plain' }));
    assert.equal(made.spec?.['overhead'], undefined);
    assert.equal(made.spec?.['nodeSelector'], undefined);
    assert.equal(made.spec?.['tolerations'], undefined);
  });

  test('gets its overhead, or says the same one', async () => {
    await makeClass('dear', { overhead: { podFixed: { cpu: '250m', memory: '64Mi' } } });
    const wanted = { cpu: '250m', memory: '64Mi' };
    const made = await admin.must('POST', pods, pod('silent', { runtimeClassName: 'dear' }));
    assert.deepEqual(made.spec?.['overhead'], wanted);
    const same = { runtimeClassName: 'dear', overhead: { memory: '65536Ki', cpu: '0.25' } };
    const said = await admin.must('POST', pods, pod('same', same));
    assert.deepEqual(said.spec?.['overhead'], wanted);
    assert.equal(
      await refusal(pod('other', { runtimeClassName: 'dear', overhead: { cpu: '1' } })),
      `pods "other" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
    );
  });

  test('without an overhead has none, as a pod without a class', async () => {
    const message = (name: string) =>
      `pods "${name}" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`;
    const overhead = { cpu: '1' };
    assert.equal(await refusal(pod('a', { overhead })), message('a'));
    assert.equal(await refusal(pod('b', { runtimeClassName: 'plain', overhead })), message('b'));
  });

  test('is placed where the class is, too', async () => {
    await makeClass('placed', {
      scheduling: {
        nodeSelector: { sandboxed: 'true', zone: 'a' },
        tolerations: [{ key: 'sandboxed', operator: 'Exists' }],
      },
    });
    const spec = {
      runtimeClassName: 'placed',
      nodeSelector: { zone: 'a', disk: 'fast' },
      tolerations: [
        { key: 'sandboxed', operator: 'Equal', value: 'true', effect: 'NoSchedule' },
        { key: 'other', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
        { key: 'other', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 },
      ],
    };
    const made = await admin.must('POST', pods, pod('placed', spec));
    assert.deepEqual(made.spec?.['nodeSelector'], { zone: 'a', disk: 'fast', sandboxed: 'true' });
    assert.deepEqual(made.spec?.['tolerations'], [
      { key: 'other', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 },
      { key: 'sandboxed', operator: 'Exists' },
    ]);
    assert.equal(
      await refusal(pod('elsewhere', { runtimeClassName: 'placed', nodeSelector: { zone: 'b' } })),
      'pods "elsewhere" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[zone] = a; pod.spec.nodeSelector[zone] = b',
    );
  });

  test('keeps what it got when the class goes', async () => {
    await makeClass('brief', { overhead: { podFixed: { cpu: '1' } } });
    await admin.must('POST', pods, pod('kept', { runtimeClassName: 'brief', schedulerName: 'nobody' }));
    await admin.must('DELETE', `${classes}/brief`);
    const kept = await admin.must('GET', `${pods}/kept`);
    const written = await admin.must('PUT', `${pods}/kept`, kept);
    assert.deepEqual(written.spec?.['overhead'], { cpu: '1' });
  });
});

test('a RuntimeClass is shown with its handler', async () => {
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const { text } = await admin.request('GET', classes, { headers: { accept } });
  assert.match(text, /"cells":\["dear","runc",/);
});
