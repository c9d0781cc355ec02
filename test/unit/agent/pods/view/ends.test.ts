import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodRuntimeView } from '../../../../../src/agent/pods/view/runtime-view.ts';
import { ContainerState } from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { silentLogger } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { FakeCalls } from './fake-calls.ts';

test('what is known of an end beside what the runtime says stands in the view, of ended containers only', async () => {
  const clock = createManualClock();
  const calls = new FakeCalls();
  calls.addPod('a');
  calls.addPod('b', { state: ContainerState.CONTAINER_EXITED, exitCode: 137, reason: 'Error' });
  const asked: string[] = [];
  const view = new PodRuntimeView({
    ...{ calls, clock, log: silentLogger() },
    withEnd(container, podUid) {
      asked.push(podUid);
      return { ...container, reason: 'OOMKilled', message: 'why' };
    },
  });
  const end = new AbortController();
  const running = view.run(end.signal, () => undefined);
  await clock.advance(0);
  const endsOf = (uid: string) =>
    view.pod(uid)?.containers.map(({ reason, message, exitCode }) => [reason, message, exitCode]);
  assert.deepEqual(endsOf('b'), [['OOMKilled', 'why', 137]]);
  assert.deepEqual(endsOf('a'), [['', '', 0]]);
  assert.deepEqual(new Set(asked), new Set(['b']));
  end.abort();
  await running;
});
