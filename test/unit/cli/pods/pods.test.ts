import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parsePodName } from '../../../../src/cli/pods/command.ts';
import { describePod } from '../../../../src/cli/pods/explanation.ts';
import { listPods } from '../../../../src/cli/pods/list.ts';
import { withoutColour } from '../../../../src/cli/terminal/colour.ts';
import { renderForPeople } from '../../../../src/cli/terminal/result.ts';
import { runCommandLine, written } from '../run-command.ts';

const nowMs = Date.parse('2026-05-01T12:00:00Z');
const pod = {
  namespace: 'shop',
  name: 'web',
  uid: 'u1',
  origin: 'api',
  phase: 'Running',
  stage: 'running',
  waitsFor: {
    reason: 'CrashLoopBackOff',
    message: 'container main: back-off 20s restarting failed container',
    since: '2026-05-01T11:59:50Z',
    next: '2026-05-01T12:00:10Z',
    advice: 'look at its log',
  },
  containers: [
    {
      ...{
        name: 'main',
        type: 'regular',
        state: 'waiting',
        restarts: 3,
        image: 'shop/web:1',
        failedStarts: 2,
      },
      ...{ reason: 'CrashLoopBackOff', message: 'back-off 20s', since: '2026-05-01T11:59:50Z' },
      next: '2026-05-01T12:00:10Z',
      lastExit: { exitCode: 1, reason: 'Error', message: 'no config', finishedAt: '2026-05-01T11:59:50Z' },
    },
    {
      name: 'log',
      type: 'sidecar',
      state: 'running',
      restarts: 0,
      image: 'log:1',
      since: '2026-05-01T11:00:00Z',
    },
  ],
  timeline: [
    { time: '2026-05-01T11:00:00Z', what: 'admitted', count: 1 },
    { time: '2026-05-01T11:59:50Z', what: 'container main ended with exit code 1', count: 3 },
  ],
};
const refusal = { cause: 'failed', reason: 'OutOfcpu', message: 'x'.repeat(200), advice: 'lower requests' };
const explain = (item: Record<string, unknown>) => describePod(item, nowMs).text(withoutColour);

test('empty tables print headers only; kubectl says "No resources found", and so do the pods of a node', () => {
  assert.deepEqual(written('table', listPods({ items: [] }, nowMs)), {
    stdout: '',
    stderr: 'No resources found\n',
  });
});

describe('the pod that is named', () => {
  const tell = async (name: string) =>
    await runCommandLine(['pods', 'explain', name, '--root-dir', '/nowhere']);

  test('is in the namespace default where none is named', async () => {
    for (const name of ['default/web', 'web']) assert.match((await tell(name)).stderr, /no agent|\/nowhere/);
    assert.deepEqual(parsePodName('web'), { namespace: 'default', name: 'web' });
    assert.deepEqual(parsePodName('shop/web'), { namespace: 'shop', name: 'web' });
  });

  test('is refused where it is no name of a pod', async () => {
    for (const name of ['', '/', '/web', 'shop/', 'shop/web/main'])
      assert.match((await tell(name)).stderr, /It is NAMESPACE\/POD, such as default\/web\./, name);
  });
});

describe('what the volumes of a pod show', () => {
  test('is said with the time, and with what is wrong', () => {
    const shows = 'configmap shop/app version 7';
    const since = '2026-05-01T11:00:00Z';
    const volumes = [
      { name: 'config', shows, since },
      { name: 'more', shows, problem: 'configmap "app" not found' },
    ];
    assert.ok(
      explain({ ...pod, volumes }).includes(
        `\nvolume config shows ${shows} since ${since}\nvolume more shows ${shows}\n  something newer cannot be written: configmap "app" not found\n`,
      ),
    );
    assert.doesNotMatch(explain(pod), /^volume/m);
  });
});

describe('nodeward pods ls', () => {
  test('shows each pod with what it waits for', () => {
    const quiet = { ...pod, name: 'db', waitsFor: undefined, containers: [] };
    const refused = { ...quiet, name: 'big', phase: 'Failed', stage: 'ended', ends: refusal };
    const passing = [
      { name: 'setup', type: 'init', state: 'ended', restarts: 0 },
      { name: 'look', type: 'ephemeral', state: 'running', restarts: 0 },
    ];
    const shown = { ...pod, containers: [...pod.containers, ...passing] };
    const table = renderForPeople(
      listPods({ items: [shown, quiet, refused] }, nowMs),
      'table',
      withoutColour,
    );
    assert.deepEqual(
      table.split('\n').map((line) => line.split(/ {2,}/)),
      [
        ['POD', 'PHASE', 'STAGE', 'RUNNING', 'RESTARTS', 'REASON', 'SINCE', 'NEXT', 'WHY'],
        [
          'shop/web',
          'Running',
          'running',
          '1/2',
          '3',
          'CrashLoopBackOff',
          '10s',
          'in 10s',
          pod.waitsFor.message,
        ],
        ['shop/db', 'Running', 'running', '0/0', '0', '-', '-', '-', '-'],
        ['shop/big', 'Failed', 'ended', '0/0', '0', 'OutOfcpu', '-', '-', `${'x'.repeat(99)}…`],
        [''],
      ],
    );
  });
});

describe('nodeward pods explain', () => {
  test('says what it waits for, since when, what was tried and what comes next', () => {
    assert.deepEqual(explain(pod).split('\n'), [
      'pod shop/web (u1, from the API)',
      'phase Running, running',
      'waits for 10s: container main: back-off 20s restarting failed container (CrashLoopBackOff)',
      'next: it is tried again in 10s (2026-05-01T12:00:10Z)',
      'to do: look at its log',
      '',
      'container main: waiting for 10s, 3 restarts, image shop/web:1',
      '  CrashLoopBackOff: back-off 20s',
      '  its start failed 2 times in a row',
      '  is tried again in 10s',
      '  ended last 10s ago with exit code 1 (Error): no config',
      '',
      'sidecar container log: running for 60m, 0 restarts, image log:1',
      '',
      'what happened:',
      '  2026-05-01T11:00:00Z  admitted',
      '  2026-05-01T11:59:50Z  container main ended with exit code 1 (3 times, last)',
      '',
    ]);
  });

  test('says why a pod ends, and that nothing is waited for', () => {
    const ends = { cause: 'failed', reason: 'Evicted', message: 'low on memory', advice: 'make room' };
    const text = explain({ ...pod, waitsFor: undefined, ends, origin: 'file' });
    assert.match(text, /from a manifest on the node/);
    assert.match(text, /^it ends: the node ends it: Evicted: low on memory\nto do: make room$/m);
    assert.match(text, /^it waits for nothing$/m);
    const event = explain({ ...pod, waitsFor: { reason: 'FailedMount', message: '' } });
    assert.match(event, /^waits: FailedMount \(FailedMount\)\nnext: it goes on as soon as that changes$/m);
  });

  test('says which disk is full, and which pods fill it', () => {
    const found = 'ext4 at /: 0 B of 8.0 GiB free; filled most by the pods a/b (volumes 7.0 GiB, logs 0 B)';
    const fullDisks = [{ what: 'disk of the root folder', found, advice: 'make room there' }];
    const lines = explain({ ...pod, fullDisks }).split('\n');
    const at = lines.indexOf(`full: disk of the root folder: ${found}`);
    assert.ok(at > 0);
    assert.equal(lines[at + 1], 'to do: make room there');
  });

  test('says what the node is short of, since when, and what was done for it', () => {
    const at = (seconds: number) => new Date(nowMs + seconds * 1000).toISOString();
    const pressure = { condition: 'MemoryPressure', since: at(-90), found: 'memory.available is 50Mi' };
    const last = { time: at(-5), what: 'evicted pod a/b: low' };
    const text = explain({ ...pod, pressures: [pressure, { ...pressure, condition: 'DiskPressure', last }] });
    assert.match(text, /^the node has MemoryPressure for 90s: memory\.available is 50Mi$/m);
    assert.match(text, /^the node has DiskPressure for .*; 5s ago: evicted pod a\/b: low$/m);
  });

  test('bears whatever an agent sends, and prints no control characters', () => {
    for (const item of [{}, { waitsFor: 3, containers: [{}, 4], timeline: 'x', ends: { cause: 1 } }])
      assert.match(explain(item), /^pod -\/-/);
    const evil = '\u001b[31m\n';
    const container = { name: evil, state: evil, reason: evil, image: evil, lastExit: { message: evil } };
    const text = explain({
      name: evil,
      uid: evil,
      phase: evil,
      stage: evil,
      origin: evil,
      waitsFor: { message: evil },
      containers: [container],
      timeline: [{ what: evil }],
    });
    assert.ok(!text.includes('\u001b'));
  });
});

test('manifests that are not used are told after the list, and with the pod that counts because of one', () => {
  const refusedManifests = [{ message: 'manifest web.yaml is invalid: line 1\u001b[31m' }];
  const list = renderForPeople(listPods({ items: [], refusedManifests }, nowMs), '', withoutColour);
  assert.match(list, /^not used: manifest web\.yaml is invalid: line 1.*\n$/);
  assert.ok(!list.includes('\u001b'));
  assert.match(explain({ ...pod, refusedManifests }), /^not used: manifest web\.yaml is invalid/m);
});
