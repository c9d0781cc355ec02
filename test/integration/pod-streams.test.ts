/** Streams into pods by the hundred megabytes and by the hundred, and streams that are cut: bounded memory, and nothing left. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes, runCommand, sendSignal, waitFor } from '../support/index.ts';
import { below, withSeed } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { fetched, kubectl } from './lab/index.ts';
import { controlPlaneOf } from './nodeward/index.ts';
import type { PodNode, Protocol, StreamServer } from './pods/index.ts';
import {
  attachPath,
  execPath,
  heldBy,
  isRunningAndReady,
  resultOf,
  runSession,
  runUntilCut,
  script,
  startCommand,
  startPodNode,
  streamServerOf,
  until,
  waitUntilNothingIsLeft,
} from './pods/index.ts';

before(ensureBuilt);

const mebibyte = 1024 * 1024;
const largeBytes = 100 * mebibyte;
/** SPDY, and WebSocket of the middle and the newest. */
const [oldest, middle, newest] = [
  'kubectl-1.20/bin/kubectl',
  'kubectl-1.32/bin/kubectl',
  'tools/bin/kubectl',
];
const ports = { gives: 9001, takes: 9002, pages: 9003 };
/** What is sent to it, it says back. */
const attachedTo = `head -c ${largeBytes} > /tmp/said; cat /tmp/said; sleep 3600`;
const serving = [
  `nc -ll -p ${ports.gives} -e cat /large/bytes &`,
  `nc -ll -p ${ports.takes} -e sh -c 'head -c ${largeBytes} | sha256sum' &`,
  'mkdir /tmp/pages; for page in $(seq 0 199); do echo $page > /tmp/pages/$page; done',
  `httpd -p ${ports.pages} -h /tmp/pages`,
  `trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`,
];

let lab: PodNode;
let server: StreamServer;
let home: string;
before(async () => {
  lab = await startPodNode();
  server = await streamServerOf(lab.agent.summary.kubeconfig ?? '');
  home = join(dirname(lab.rootDir), 'large');
  await mkdir(home);
  const volumes = [{ name: 'large', hostPath: { path: home } }];
  const more = { volumeMounts: [{ name: 'large', mountPath: '/large' }] };
  const pods = [
    await lab.run('target', { volumes, containers: [script('main', serving.join('\n'), more)] }),
    await lab.run('echo', { containers: [script('main', attachedTo, { stdin: true })] }),
    await lab.run('victim', { containers: [script('main', 'exec sleep 3600')] }),
  ];
  for (const pod of pods) await until(lab, 'it to run', pod, isRunningAndReady);
});
after(() => lab?.[Symbol.asyncDispose]());

const pids = async () => [lab.agent.pid, (await controlPlaneOf(lab.agent.pid)) ?? 0] as const;

/** The most memory that a process has used since. */
async function watchMemory(pid: number): Promise<{ grownMiB(): number } & Disposable> {
  const start = await residentBytes(pid);
  let most = start;
  const look = async () => {
    most = Math.max(most, await residentBytes(pid).catch(() => 0));
  };
  const timer = setInterval(() => void look(), 50);
  return {
    grownMiB: () => Math.round((most - start) / mebibyte),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

async function sumOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** By a shell, which prints the sum at the start of a line. */
async function shell(program: string, text: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: lab.agent.summary.kubeconfig, NO_PROXY: '*', HOME: home };
  const argv = ['-c', text, fetched(program), join(home, 'bytes'), home];
  const { code, stdout, stderr } = await runCommand('bash', ['-o', 'pipefail', ...argv], {
    env,
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, `${program}, ${text}: ${stderr.slice(-2000)}`);
  return stdout.slice(0, 64);
}

/** Through a kubectl that forwards a port: sends, if anything, and reads to the end. */
async function throughPort(program: string, port: number, path?: string): Promise<string> {
  const { start } = kubectl(lab.agent.summary.kubeconfig ?? '', home, fetched(program));
  await using forwarding = await start(['port-forward', '--address', '127.0.0.1', 'pod/target', `:${port}`]);
  const [, local = ''] = await forwarding.waitForOutput(/Forwarding from 127\.0\.0\.1:(\d+)/);
  const socket = connect({ port: Number(local), host: '127.0.0.1', allowHalfOpen: true });
  if (path === undefined) return await sumOf(socket);
  createReadStream(path).pipe(socket);
  const [first] = await once(socket, 'data');
  socket.destroy();
  return String(first).slice(0, 64);
}

/** Reads the file as `hold` lets it: called with all that has come by then, and what it returns is waited for. */
async function readAsAllowed(
  protocol: Protocol,
  hold: (bytes: number) => Promise<unknown> | undefined,
): Promise<string> {
  const session = await startCommand(server, protocol, execPath('target', 'cat', '/large/bytes'));
  const hash = createHash('sha256');
  let bytes = 0;
  session.onOutput = (piece) => {
    hash.update(piece);
    bytes += piece.length;
    const held = hold(bytes);
    if (held === undefined) return;
    session.pause();
    void held.then(() => session.resume());
  };
  assert.match(await session.status, /"status":"Success"/);
  return hash.digest('hex');
}

/** Sends the file to the first process of a container, which says it back. */
async function attach(path: string): Promise<string> {
  const session = await startCommand(server, 'WebSocket', attachPath('echo'));
  const hash = createHash('sha256');
  const done = Promise.withResolvers<string>();
  let bytes = 0;
  session.onOutput = (piece) => {
    hash.update(piece);
    bytes += piece.length;
    if (bytes >= largeBytes) done.resolve(hash.digest('hex'));
  };
  for await (const piece of createReadStream(path)) await session.write(piece);
  const sum = await Promise.race([done.promise, session.status.then((text) => `it ended: ${text}`)]);
  session.close();
  return sum;
}

describe('100 MiB', () => {
  test('each way at once, to slow readers too, come whole and use little memory', {
    timeout: 300_000,
  }, async (t) => {
    const path = join(home, 'bytes');
    const bytes = randomBytes(largeBytes);
    await writeFile(path, bytes);
    const sum = createHash('sha256').update(bytes).digest('hex');
    const [agent, controlPlane] = await pids();
    using agentMemory = await watchMemory(agent);
    using memory = await watchMemory(controlPlane);
    const others = Promise.withResolvers<void>();
    let lastStop = 0;
    const slow = {
      'a reader that stops until all others are done': readAsAllowed('WebSocket', (count) =>
        count < mebibyte ? undefined : others.promise,
      ),
      'a reader of some speed': readAsAllowed('SPDY', (count) => {
        if (count < lastStop + 4 * mebibyte) return undefined;
        lastStop = count;
        return sleep(20);
      }),
    };
    const ways = {
      'exec, output by SPDY': shell(oldest, '"$0" exec target -- cat /large/bytes | sha256sum'),
      'exec, output by WebSocket': shell(newest, '"$0" exec target -- cat /large/bytes | sha256sum'),
      'exec, input by SPDY': shell(oldest, '"$0" exec -i target -- sha256sum < "$1"'),
      'exec, input by WebSocket': shell(middle, '"$0" exec -i target -- sha256sum < "$1"'),
      'attach, input and output': attach(path),
      'a port, output by WebSocket': throughPort(middle, ports.gives),
      'a port, input by SPDY': throughPort(oldest, ports.takes, path),
      'cp, there': shell(newest, '"$0" cp "$1" target:/tmp/copy && "$0" exec target -- sha256sum /tmp/copy'),
      'cp, back': shell(middle, '"$0" cp target:/large/bytes "$2/back" > /dev/null && sha256sum "$2/back"'),
    };
    const startMs = performance.now();
    const end = (name: string, result: Promise<string>) =>
      result.then((text) => {
        t.diagnostic(`${name}: ${Math.round(performance.now() - startMs)} ms`);
        assert.equal(text, sum, name);
      });
    const held = Promise.all(Object.entries(slow).map(([name, result]) => end(name, result)));
    await Promise.all(Object.entries(ways).map(([name, result]) => end(name, result))).finally(
      others.resolve,
    );
    await held;
    t.diagnostic(`grown by ${agentMemory.grownMiB()} MiB (agent), ${memory.grownMiB()} MiB (control plane)`);
    for (const each of [agentMemory, memory]) assert.ok(each.grownMiB() < 250, `${each.grownMiB()} MiB`);
  });
});

describe('200 sessions', () => {
  test('are open at once, each with its own outputs and end', { timeout: 300_000 }, async () => {
    const before = await heldBy(lab);
    const all = Promise.withResolvers<void>();
    const open = new Set<number>();
    const sessions = Array.from({ length: 200 }, (_, index) => {
      const isOpen = () => {
        open.add(index);
        if (open.size === 200) all.resolve();
      };
      return runSession({ server, pod: 'target', index }, ports.pages, isOpen, all.promise);
    });
    const results = await Promise.all(sessions);
    const wanted = results.map((_, index) => resultOf(index));
    assert.deepEqual(results, wanted);
    await waitUntilNothingIsLeft(lab, 'target', before);
  });
});

describe('sessions that are cut at any moment leave nothing', () => {
  /**
   * Runs some, each begun some time after the others. `cutter`, if any, is called with what cuts a session: of each tenth when that
   * has begun, of all others at once. `begun` resolves when one has begun.
   */
  function runSessions(count: number, random: () => number, pod: string, cutter?: (cut: () => void) => void) {
    const begun = Promise.withResolvers<void>();
    const sessions = Array.from({ length: count }, async (_, index) => {
      const cut = new AbortController();
      await sleep(below(300, random));
      const mayBeCut = Promise.withResolvers<void>();
      void mayBeCut.promise.then(() => cutter?.(() => cut.abort()));
      if (index % 10 !== 0) mayBeCut.resolve();
      await runUntilCut({ server, pod, index }, ports.gives, cut.signal, () => {
        mayBeCut.resolve();
        begun.resolve();
      });
    });
    return { begun: begun.promise, over: Promise.all(sessions) };
  }

  test('by their clients', { timeout: 300_000 }, () =>
    withSeed(async (random) => {
      const before = await heldBy(lab);
      const [agent, controlPlane] = await pids();
      using agentMemory = await watchMemory(agent);
      using memory = await watchMemory(controlPlane);
      const { begun, over } = runSessions(60, random, 'target', (cut) => setTimeout(cut, below(400, random)));
      await Promise.all([begun, over]);
      await waitUntilNothingIsLeft(lab, 'target', before);
      for (const each of [agentMemory, memory]) assert.ok(each.grownMiB() < 250, `${each.grownMiB()} MiB`);
    }),
  );

  const ends = {
    'by the end of their container': { pod: 'victim', end: () => lab.delete('victim', 0) },
    'by the end of the control plane': { pod: 'target', end: killControlPlane },
    'by the end of the agent': { pod: 'target', end: () => lab.restartAgent('kill9') },
  };
  for (const [name, { pod, end }] of Object.entries(ends))
    test(name, { timeout: 300_000 }, () =>
      withSeed(async (random) => {
        const before = await heldBy(lab);
        const { begun, over } = runSessions(16, random, pod);
        await begun;
        await sleep(below(400, random));
        await end();
        await over;
        await waitUntilNothingIsLeft(lab, 'target', before);
      }),
    );
});

async function killControlPlane(): Promise<void> {
  const [, controlPlane] = await pids();
  sendSignal(controlPlane, 'SIGKILL');
  await waitFor('another one', async () => {
    const now = await controlPlaneOf(lab.agent.pid);
    return now !== undefined && now !== controlPlane;
  });
}
