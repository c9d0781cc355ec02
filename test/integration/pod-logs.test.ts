/** Rotation of the logs of a real containerd: no line is lost and none comes twice, wherever the agent is killed. */
import assert from 'node:assert/strict';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readLog } from '../../src/agent/pods/log-reader/index.ts';
import type { LogLimits } from '../../src/agent/pods/logs/index.ts';
import {
  containerLogFolder,
  fileOf,
  LogRotator,
  listRotated,
  openFolderBelow,
  placeOfLog,
  podLogFolder,
  readTerminationMessage,
} from '../../src/agent/pods/logs/index.ts';
import { CriContainerState, openConnection, podCalls } from '../../src/agent/runtime/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { waitFor } from '../support/index.ts';
import type { LabContainerd } from './lab/index.ts';
import { image, startContainerd } from './lab/index.ts';

const networkOfHost = 2;

interface Logging extends AsyncDisposable {
  readonly logsDir: string;
  /** Of the container. */
  readonly folder: string;
  readonly id: string;
  readonly logPath: string;
  isRunning(): Promise<boolean>;
  reopen(): Promise<void>;
}

/** A container that writes by `script`. */
async function startLogging(containerd: LabContainerd, script: string): Promise<Logging> {
  await using setup = new AsyncDisposableStack();
  const calls = podCalls(setup.use(openConnection([containerd.endpoint])), { timeoutMs: 20_000 });
  const logsDir = join(containerd.folder, 'logs');
  const pod = { namespace: 'default', name: 'talker', uid: crypto.randomUUID() };
  const labels = { 'io.kubernetes.pod.uid': pod.uid };
  const linux = { securityContext: { namespaceOptions: { network: networkOfHost } } };
  const sandbox = {
    metadata: { ...pod, attempt: 0 },
    logDirectory: podLogFolder(logsDir, pod),
    labels,
    linux,
  };
  const sandboxId = await calls.runSandbox(sandbox, '');
  setup.defer(async () => {
    await calls.stopSandbox(sandboxId);
    await calls.removeSandbox(sandboxId);
  });
  const container = {
    metadata: { name: 'main', attempt: 0 },
    image: { image },
    command: ['/bin/sh', '-c', script],
    logPath: 'main/0.log',
    labels,
    linux,
  };
  const id = await calls.createContainer(sandboxId, container, sandbox);
  await calls.startContainer(id);
  const logPath = (await calls.containerStatus(id))?.logPath ?? '';
  const resources = setup.move();
  return {
    logsDir,
    folder: containerLogFolder(logsDir, pod, 'main'),
    id,
    logPath,
    isRunning: async () => (await calls.containerStatus(id))?.state === CriContainerState.CONTAINER_RUNNING,
    reopen: () => calls.reopenLog(id),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function startRotator(logging: Logging, limits: LogLimits, isRunning = () => true): AsyncDisposable {
  const { id, logPath, logsDir, reopen } = logging;
  const rotator = new LogRotator({
    logsDir,
    limits: () => limits,
    containers: () => [{ id, logPath, isRunning: isRunning() }],
    reopen,
    clock: systemClock,
    log: silentLogger(),
  });
  const end = new AbortController();
  const running = rotator.run(end.signal, () => undefined);
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

/** What was written, over all files, the oldest first. */
async function readAll({ folder, logPath }: Logging): Promise<string[]> {
  const rotated = listRotated(await readdir(folder), '0.log');
  const texts = await Promise.all(
    rotated.map(async (each) => {
      const bytes = await readFile(join(folder, fileOf(each)));
      return String(each.isCompressed ? await promisify(gunzip)(bytes) : bytes);
    }),
  );
  const all = texts.join('') + (await readFile(logPath, 'utf8'));
  return all.split('\n').flatMap((line) => /^\S+ stdout F (.*)$/.exec(line)?.[1] ?? []);
}

/** What one who follows the log gets, until so many lines have come. */
async function follow({ logsDir, logPath }: Logging, lines: number): Promise<string> {
  const place = placeOfLog(logsDir, logPath);
  assert.ok(place !== undefined);
  await using folder = await openFolderBelow(logsDir, place.folders);
  const end = new AbortController();
  const pieces = readLog(
    { folder, log: place.log, hasEnded: () => false, onChange: () => new DisposableStack() },
    {
      ...{ hasTimestamps: false, sinceMs: undefined, stream: 'All', isFollowed: true },
      ...{ tailRecords: undefined, limitBytes: undefined },
    },
    { clock: systemClock, signal: end.signal },
  );
  let text = '';
  for await (const piece of pieces) {
    text += piece.toString();
    if (text.endsWith(`\n${lines}\n`)) end.abort();
  }
  return text;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));
const limits = { maxBytes: 256 * 1024, maxFiles: 100, workers: 1, intervalMs: 10_000 };
/** In bursts of 250 lines, 20 of them in a second. */
const counting = (count: number) =>
  `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo $i; [ $((i % 250)) -ne 0 ] || sleep 0.05; done; sleep 1000`;

for (const version of ['2.1', '1.6'] as const)
  describe(`logs of containerd ${version}`, { timeout: 300_000 }, () => {
    test('30,000 lines through rotations: none lost, none twice, each file near its limit', async () => {
      await using containerd = await startContainerd({ version });
      await using logging = await startLogging(containerd, counting(30_000));
      await using rotator = startRotator(logging, limits);
      const followed = follow(logging, 30_000);
      await waitFor('all lines to be there', async () => (await readAll(logging)).length >= 30_000);
      const older = async () => listRotated(await readdir(logging.folder), '0.log').slice(0, -1);
      await waitFor('no more to be rotated, and the older ones to be compressed', async () => {
        const { size } = await stat(logging.logPath);
        return size < limits.maxBytes && (await older()).every(({ isCompressed }) => isCompressed);
      });
      await rotator[Symbol.asyncDispose]();
      assert.deepEqual(await readAll(logging), numbers(30_000));
      assert.equal(
        await followed,
        numbers(30_000)
          .map((line) => `${line}\n`)
          .join(''),
      );
      const rotated = listRotated(await readdir(logging.folder), '0.log');
      assert.ok(rotated.length >= 4, `${rotated.length} rotations`);
      assert.ok(rotated.slice(0, -1).every(({ isCompressed }) => isCompressed));
      const newest = rotated.at(-1);
      assert.ok(newest !== undefined && !newest.isCompressed);
      const { size } = await stat(join(logging.folder, fileOf(newest)));
      assert.ok(size < 3 * limits.maxBytes, `${size} bytes`);
    });

    test('an agent that was killed between renaming and reopening: the next one mends it', async () => {
      await using containerd = await startContainerd({ version });
      const script = 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done';
      await using logging = await startLogging(containerd, script);
      await waitFor('lines', async () => (await readAll(logging)).length > 10);
      await rename(logging.logPath, `${logging.logPath}.20261122-134950`);
      await using _rotator = startRotator(logging, limits);
      await waitFor(
        'new lines',
        async () => (await readFile(logging.logPath, 'utf8')).split('\n').length > 10,
      );
      const lines = await readAll(logging);
      assert.deepEqual(lines, numbers(lines.length));
    });

    test('one that has ended keeps its log, and what it said last is read from it', async () => {
      await using containerd = await startContainerd({ version });
      await using logging = await startLogging(containerd, 'echo first; echo cannot go on >&2; exit 3');
      await waitFor('the container to have ended', async () => !(await logging.isRunning()));
      await rename(logging.logPath, `${logging.logPath}.20261122-134950`);
      await using _rotator = startRotator(logging, limits, () => false);
      await waitFor('the log to be back', () => stat(logging.logPath));
      const policy = 'FallbackToLogsOnError';
      const message = await readTerminationMessage({
        file: join(logging.folder, 'none'),
        policy,
        logPath: logging.logPath,
        exitCode: 3,
      });
      assert.deepEqual(message.trimEnd().split('\n').sort(), ['cannot go on', 'first']);
    });
  });
