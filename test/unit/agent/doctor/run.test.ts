import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { createAllChecks } from '../../../../src/agent/doctor/catalogue.ts';
import { runChecks } from '../../../../src/agent/doctor/run.ts';
import { createHostChecksService } from '../../../../src/agent/doctor/service.ts';
import type { Check } from '../../../../src/agent/doctor/types.ts';
import { ok, topics } from '../../../../src/agent/doctor/types.ts';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import type { RuntimeStatus } from '../../../../src/agent/runtime/index.ts';
import { resolveGates } from '../../../../src/api/index.ts';
import { createMetrics, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import type { FakeRuntime } from '../runtime/fake-runtime.ts';
import { refusal, startFakeRuntime } from '../runtime/fake-runtime.ts';
import { makeMachine } from './machine.ts';

const signal = new AbortController().signal;
const check = (id: string, run: Check['run'], more: Partial<Check> = {}): Check => ({
  ...{ id, topic: 'agent', title: id, needed: 'something', run },
  ...more,
});

describe('making checks', () => {
  test('one that hangs or throws is unknown, and holds up no other', async () => {
    await using machine = await makeMachine();
    let given: AbortSignal | undefined;
    const hung = check(
      'hung',
      (_host, inner) => {
        given = inner;
        return new Promise(() => undefined);
      },
      { timeoutMs: 20 },
    );
    const broken = check('broken', () => {
      throw new Error('no such luck');
    });
    const fine = check('fine', () => ok('x'.repeat(5000)), { topic: 'kernel' });
    const rows = await runChecks([hung, broken, fine], machine.host, systemClock, signal);
    assert.deepEqual(
      rows.map(({ id, verdict }) => [id, verdict]),
      [
        ['fine', 'ok'],
        ['hung', 'unknown'],
        ['broken', 'unknown'],
      ],
    );
    assert.equal(rows[1]?.found, 'no answer within 0.02 s');
    assert.ok(given?.aborted, 'it is told to give up');
    assert.match(rows[2]?.found ?? '', /no such luck/);
    assert.ok((rows[0]?.found.length ?? 0) < 700);
  });
});

describe('the catalogue', () => {
  const examined = {
    sources: { flags: {} },
    rootDir: '/var/lib/nodeward',
    certDir: '/var/lib/nodeward/pki',
    lockFile: '/run/nodeward.lock',
    nodeName: 'a',
    groupSuffix: 'k8s.io',
    controlPlane: { mode: 'standalone' },
    apiPort: 6443,
  } as const;

  test('each id is one of its own, and docs/doctor.md lists exactly these, under their topics', async () => {
    await using machine = await makeMachine();
    const checks = await createAllChecks(examined, machine.host, signal);
    const ids = checks.map(({ id }) => id);
    assert.deepEqual([...new Set(ids)], ids);
    assert.deepEqual([...new Set(checks.map(({ topic }) => topic))].sort(), [...topics].sort());
    const page = await readFile(new URL('../../../../docs/doctor.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `([a-z-]+)` \| (\w+) \|/gm)].map(
      ([, id, topic]) => `${id} ${topic}`,
    );
    assert.deepEqual(listed.sort(), checks.map(({ id, topic }) => `${id} ${topic}`).sort());
  });
});

describe('the agent’s own look', () => {
  const answering: RuntimeStatus = {
    ...{ ready: true, networkReady: true, reason: '', message: '', version: '2.1', name: 'fake' },
    endpoint: 'x',
    handlers: [],
  };

  async function start(runtime: FakeRuntime, files: Record<string, string> = {}) {
    const machine = await makeMachine({ files });
    const { log, text } = recordedLog();
    const metrics = createMetrics();
    let change: (status: RuntimeStatus) => void = () => undefined;
    const service = createHostChecksService({
      config: () => ({ containerRuntimeEndpoint: runtime.endpoint, featureGates: resolveGates({}) }),
      runtime: {
        status: () => answering,
        onStatusChange(listener) {
          change = listener;
          return { [Symbol.dispose]: () => undefined };
        },
      },
      metrics,
      clock: { ...systemClock, sleep: (ms, end) => systemClock.sleep(ms === 1000 ? 0 : ms, end) },
      log,
      host: machine.host,
    });
    const stop = new AbortController();
    const running = service.run(stop.signal, () => undefined);
    return {
      service,
      metrics,
      /** What was logged of a check, by level. */
      levelsOf(id: string): string[] {
        const lines = text()
          .split('\n')
          .filter((line) => line.includes(`"check":"${id}"`));
        return lines.map((line) => /"level":"(\w+)"/.exec(line)?.[1] ?? '');
      },
      change: (version: string) => change({ ...answering, version }),
      async [Symbol.asyncDispose]() {
        stop.abort();
        await running.catch(() => undefined);
        await machine[Symbol.asyncDispose]();
      },
    };
  }

  test('logs what is wrong once, counts everything, and says on the Node whether checkpoints can be made', async () => {
    await using folder = await temporaryFolder();
    await using runtime = await startFakeRuntime(join(folder.path, 'r.sock'));
    await using agent = await start(runtime, { 'proc/self/status': 'Name:\tx\n' });
    await waitFor('the first look', () => agent.service.conditions().length > 0);
    const [first] = agent.service.conditions();
    assert.equal(first?.type, 'CheckpointUnavailable');
    assert.equal(first?.status, 'True');
    const text = await agent.metrics.metrics();
    assert.match(text, /nodeward_host_check\{check="seccomp",verdict="failed"\} 1/);
    assert.match(text, /nodeward_host_check\{check="seccomp",verdict="ok"\} 0/);

    runtime.on(RuntimeService.method.checkpointContainer, () => {
      throw refusal(status.NOT_FOUND, 'no such container');
    });
    agent.change('2.2');
    await waitFor('the change to be seen', () => agent.service.conditions()[0]?.status === 'False');
    assert.deepEqual(agent.levelsOf('seccomp'), ['error'], 'told once');
    assert.deepEqual(agent.levelsOf('runtime-checkpoint'), ['error', 'info']);
  });
});
