import assert from 'node:assert/strict';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LoggedPods } from '../../../../../src/agent/pods/log-reader/index.ts';
import { logRoutes } from '../../../../../src/agent/pods/log-reader/index.ts';
import type { ContainerView, PodView } from '../../../../../src/agent/pods/view/types.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { startAgent } from '../../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../../apiserver/support/index.ts';

const path = '/api/v1/nodes/node-a/proxy/containerLogs/default/web';

const container = (id: string, attempt: number, logPath: string): ContainerView => ({
  ...{ id, attempt, logPath, name: 'main', sandboxId: 's', state: attempt === 1 ? 'running' : 'exited' },
  ...{ createdMs: 1, startedMs: 1, finishedMs: undefined, exitCode: 0, reason: '', message: '' },
  ...{
    image: 'i',
    imageRef: 'i',
    imageId: 'i',
    annotations: {},
    user: undefined,
    resources: undefined,
    mounts: [],
  },
});

type Status = ReturnType<LoggedPods['statusOf']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

const statusOf = (part: Partial<ContainerStatus>): Status => ({
  containerStatuses: [{ name: 'main', image: 'i', imageID: 'i', ready: true, restartCount: 1, ...part }],
});

const runningStatus = statusOf({
  containerID: 'containerd://now',
  state: { running: {} },
  lastState: { terminated: { exitCode: 1, containerID: 'containerd://before' } },
});

/** An agent with one pod, whose container writes to a file; asked through a control plane. */
async function startLogs() {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder());
  const logs = join(folder.path, 'default_web_u/main');
  await mkdir(logs, { recursive: true });
  const record = (text: string) => `2026-11-22T13:49:50.5Z stdout F ${text}\n`;
  await writeFile(join(logs, '0.log'), record('before'));
  await writeFile(join(logs, '1.log'), record('now'));
  const pod: Pod = {
    metadata: { namespace: 'default', name: 'web', uid: 'u' },
    spec: {
      containers: [
        { name: 'main', image: 'i' },
        { name: 'other', image: 'i' },
      ],
    },
  };
  const listeners = new Set<(uid: string) => void>();
  const state = {
    status: runningStatus,
    containers: [container('now', 1, join(logs, '1.log')), container('before', 0, join(logs, '0.log'))],
  };
  const server = setup.use(await startServer());
  const view = (): PodView => ({
    ...{ uid: 'u', namespace: 'default', name: 'web', sandboxes: [], containers: state.containers },
  });
  const routes = logRoutes({
    find: (namespace, name) => (namespace === 'default' && name === 'web' ? pod : undefined),
    statusOf: () => state.status,
    view: {
      pod: view,
      onChange(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => listeners.delete(listener) };
      },
    },
    logsDir: folder.path,
    stallMs: () => 60_000,
    clock: systemClock,
  });
  const agent = setup.use(await startAgent(server, 'node-a', routes));
  const resources = setup.move();
  return {
    server,
    state,
    logs,
    listeners,
    append: (text: string) => appendFile(join(logs, '1.log'), record(text)),
    changed() {
      for (const listener of listeners) listener('u');
    },
    async ask(rest: string): Promise<string> {
      const { code, text } = await server.admin.request('GET', `${path}/${rest}`);
      return `${code} ${text}`;
    },
    /** Follows the log of the container that runs; resolves when the head of the answer is there. */
    async follow() {
      const followed = { code: 0, text: '', hasEnded: false, isCut: false };
      const asking = get(
        `https://127.0.0.1:${server.port}${path}/main?follow=true&tailLines=0`,
        server.admin.tlsOptions,
        (answer) => {
          followed.code = answer.statusCode ?? 0;
          answer.on('data', (piece) => {
            followed.text += piece;
          });
          answer.once('end', () => {
            followed.hasEnded = true;
          });
          answer.once('error', () => {
            followed.isCut = true;
          });
        },
      );
      asking.on('error', () => undefined);
      await waitFor('the head of the answer', () => followed.code === 200 && listeners.size === 1);
      return followed;
    },
    stopAgent: () => agent[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

describe('the agent’s path of logs', { timeout: 60_000 }, () => {
  test('gives what the container writes that there is, and the one before', async () => {
    await using it = await startLogs();
    assert.equal(await it.ask('main'), '200 now\n');
    assert.equal(await it.ask('main?previous=true'), '200 before\n');
    assert.equal(
      await it.ask('main?timestamps=true&tailLines=1'),
      '200 2026-11-22T13:49:50.500000000Z now\n',
    );
    assert.equal(await it.ask('main?tail=0'), '200 ');
    assert.equal(await it.ask('main?tailLines=all'), '200 now\n');
    assert.equal(await it.ask('main?sinceSeconds=1'), '200 ');
    assert.equal(await it.ask('main?sinceTime=2026-11-22T13:49:50Z'), '200 now\n');
  });

  test('says what is asked wrongly', async () => {
    await using it = await startLogs();
    assert.equal(await it.ask('none'), '404 container "none" not found in pod "web"');
    assert.equal(await it.ask('other'), '400 container "other" in pod "web" is not available');
    assert.match(await it.ask('main?tailLines=-1'), /^422 tailLines: Invalid value: -1/);
    assert.match(await it.ask('main?limitBytes=x'), /^400 the parameter limitBytes must be a whole number/);
    const other = await it.server.admin.request('GET', path.replace('/web', '/none/main'));
    assert.deepEqual([other.code, other.text], [404, 'pod "none" does not exist']);
  });

  const waiting = (reason?: string) =>
    statusOf({ state: { waiting: reason === undefined ? {} : { reason } } });
  const cases: [string, Status, string][] = [
    ['ContainerCreating', waiting('ContainerCreating'), 'is waiting to start: ContainerCreating'],
    ['an image that fails', waiting('ErrImagePull'), "is waiting to start: image can't be pulled"],
    [
      'one that is tried again',
      waiting('ImagePullBackOff'),
      'is waiting to start: trying and failing to pull image',
    ],
    ['no reason', waiting(), 'is waiting to start - no logs yet'],
    ['an end without a container', statusOf({ state: { terminated: { exitCode: 1 } } }), 'is terminated'],
  ];
  test('says why there is none', async () => {
    await using it = await startLogs();
    for (const [name, status, text] of cases) {
      it.state.status = status;
      assert.equal(await it.ask('main'), `400 container "main" in pod "web" ${text}`, name);
    }
  });

  test('of one that waits to be started again, what the last one wrote', async () => {
    await using it = await startLogs();
    it.state.status = {
      ...runningStatus,
      ...statusOf({
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 1, containerID: 'containerd://before' } },
      }),
    };
    assert.equal(await it.ask('main'), '200 before\n');
  });

  test('a container that the runtime has forgotten, and a log that somebody has removed, are told as such', async () => {
    await using it = await startLogs();
    await rm(it.logs, { recursive: true });
    assert.match(await it.ask('main'), /^400 the log \S+\/1\.log is not there any more$/);
    it.state.containers = [];
    assert.equal(await it.ask('main'), '400 the runtime has no log of container now any more');
    it.state.containers = [container('now', 1, '/var/log/elsewhere/1.log')];
    assert.match(
      await it.ask('main'),
      /^400 the log \/var\/log\/elsewhere\/1\.log is not below \S+ \(podLogsDir\)$/,
    );
  });

  test('follows with a head at once, and ends with the container', async () => {
    await using it = await startLogs();
    const followed = await it.follow();
    await it.append('later');
    await waitFor('what was written', () => followed.text === 'later\n');
    it.state.containers = it.state.containers.map((each) => ({ ...each, state: 'exited' }));
    it.changed();
    await waitFor('the end', () => followed.hasEnded);
    assert.equal(it.listeners.size, 0);
  });

  test('is cut off where the agent stops, which is no end of a log', async () => {
    await using it = await startLogs();
    const followed = await it.follow();
    await it.append('later');
    await waitFor('what was written', () => followed.text === 'later\n');
    await it.stopAgent();
    await waitFor('the connection to be cut', () => followed.isCut);
    assert.equal(followed.hasEnded, false);
    assert.equal(it.listeners.size, 0);
  });
});
