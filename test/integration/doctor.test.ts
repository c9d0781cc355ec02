/** `nodeward doctor` on this machine, with a real containerd that is well, old, hung, or has left something behind. */
// lane: waiting (for a runtime and a mount that never answer)
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import type { CommandResult, TemporaryFolder } from '../support/index.ts';
import { runCommand, sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabContainerd } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import { nodeward, program, runAgentToItsEnd, startAgent } from './nodeward/index.ts';

interface Row {
  id: string;
  topic: string;
  title: string;
  verdict: string;
  found: string;
  needed: string;
  advice?: string;
}

interface Report extends CommandResult {
  rows: Map<string, Row>;
}

before(ensureBuilt);

function read(ended: CommandResult): Report {
  const { checks }: { checks: Row[] } = JSON.parse(ended.stdout);
  return { ...ended, rows: new Map(checks.map((row) => [row.id, row])) };
}

const verdictsOf = ({ rows }: Report, ...ids: string[]) => ids.map((id) => rows.get(id)?.verdict);

/** An automounter that nobody serves: whoever enters its folder waits until killed. Ends with its namespace. */
const onHungMount = `
  mount -t autofs -o fd=1,pgrp=$$,minproto=5,maxproto=5,direct hung "$1" | sleep 60 >&2 &
  trap "kill $!" EXIT
  until grep -q " $1 .* autofs " /proc/self/mountinfo; do sleep 0.05; done
  shift
  "$@"
`;

async function withoutAutofs(): Promise<string | false> {
  const known = (await readFile('/proc/filesystems', 'utf8')).includes('autofs');
  return known ? false : 'the kernel has no autofs';
}

const autofsIsMissing = await withoutAutofs();

describe('doctor', () => {
  let home: TemporaryFolder;
  let rootDir = '';
  let containerd: LabContainerd;

  const doctor = async (...args: string[]) => {
    const lock = ['--lock-file', join(home.path, 'doctor.lock')];
    return read(await nodeward(['doctor', '-o', 'json', '--root-dir', rootDir, ...lock, ...args]));
  };
  const withRuntime = (...args: string[]) =>
    doctor('--container-runtime-endpoint', containerd.endpoint, ...args);

  before(async () => {
    home = await temporaryFolder('doctor-');
    rootDir = join(home.path, 'root');
    containerd = await startContainerd();
  });
  after(async () => {
    await containerd?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('with containerd 2.1 and criu: checkpoints can be made, and nothing is changed', async () => {
    const before = (await readdir(home.path)).sort();
    const report = await withRuntime();
    const checkpoints = ['runtime-socket', 'runtime-version', 'runtime-checkpoint', 'criu', 'runtime-disk'];
    assert.deepEqual(
      verdictsOf(report, ...checkpoints),
      checkpoints.map(() => 'ok'),
      report.stdout,
    );
    assert.match(report.rows.get('criu')?.found ?? '', new RegExp(`process ${containerd.pid}\\b`));
    assert.notEqual(report.rows.get('criu-check')?.verdict, 'unknown');
    assert.equal(report.rows.get('runtime-conditions')?.verdict, 'failed', 'there is no pod network');
    assert.equal(report.code, exitCodes.failed);
    for (const { id, advice, verdict } of report.rows.values())
      if (verdict === 'failed' || verdict === 'warning') assert.ok(advice, `${id} says what to do`);
    assert.deepEqual((await readdir(home.path)).sort(), before);
  });

  test('a dump that the runtime has left, and a container that is frozen', async () => {
    const dump = join(containerd.folder, 'tmp/ctrd-checkpoint123456');
    await mkdir(dump);
    const young = await withRuntime('--only', 'leftover-dumps,frozen-containers');
    assert.deepEqual(verdictsOf(young, 'leftover-dumps', 'frozen-containers'), ['ok', 'ok']);
    assert.equal(young.code, exitCodes.ok);
    const hourAgo = new Date(Date.now() - 3600_000);
    await utimes(dump, hourAgo, hourAgo);
    const pod = await containerd.startPod({ name: 'sleeper' });
    const container = await pod.startContainer();
    await containerd.ctr('tasks', 'pause', container.id);
    const report = await withRuntime('--only', 'leftover-dumps,frozen-containers');
    assert.deepEqual(verdictsOf(report, 'leftover-dumps', 'frozen-containers'), ['warning', 'warning']);
    assert.ok(report.rows.get('leftover-dumps')?.found.includes(dump), report.stdout);
    assert.match(report.rows.get('frozen-containers')?.found ?? '', /default\/sleeper\/main/);
    assert.equal(report.code, exitCodes.ok, 'a warning is no failure');
    assert.equal((await withRuntime('--only', 'leftover-dumps', '--strict')).code, exitCodes.failed);
    await containerd.ctr('tasks', 'resume', container.id);
    await container.countsOn();
  });

  test('a runtime that hangs is told as such, in bounded time, and holds up nothing else', async () => {
    sendSignal(containerd.pid, 'SIGSTOP');
    try {
      const startedMs = performance.now();
      const report = await withRuntime();
      assert.ok(performance.now() - startedMs < 30_000);
      assert.equal(report.rows.get('runtime-socket')?.verdict, 'failed', report.stdout);
      assert.match(report.rows.get('runtime-socket')?.advice ?? '', /hangs/);
      assert.deepEqual(verdictsOf(report, 'runtime-version', 'runtime-checkpoint'), ['unknown', 'unknown']);
      const others = [
        'seccomp',
        'swap',
        'root-dir',
        'root-dir-disk',
        'lock',
        'configuration',
        'leftover-dumps',
      ];
      for (const id of others) assert.notEqual(report.rows.get(id)?.verdict, 'unknown', id);
    } finally {
      sendSignal(containerd.pid, 'SIGCONT');
    }
  });

  test('a mount that never answers holds up nothing, and is left alone', {
    skip: autofsIsMissing,
  }, async () => {
    const hung = join(home.path, 'hung');
    await mkdir(hung);
    const argv = [
      'doctor',
      '-o',
      'json',
      '--root-dir',
      join(hung, 'root'),
      '--lock-file',
      join(home.path, 'l'),
    ];
    const config = ['--config', join(hung, 'config.yaml')];
    const inNamespace = ['--mount', '--propagation', 'private', 'bash', '-c', onHungMount, 'bash', hung];
    const ended = await runCommand('unshare', [...inNamespace, ...program, ...argv, ...config], {
      timeoutMs: 60_000,
    });
    const report = read(ended);
    const ids = [
      'root-dir',
      'root-dir-disk',
      'secret-files',
      'configuration',
      'checkpoint-drafts',
      'certificates',
    ];
    assert.deepEqual(
      verdictsOf(report, ...ids),
      ids.map(() => 'unknown'),
      ended.stdout,
    );
    for (const id of ['swap', 'seccomp', 'lock', 'agent-port'])
      assert.notEqual(report.rows.get(id)?.verdict, 'unknown', id);
  });

  test('a runtime that is not there, and a configuration that is wrong', async () => {
    const config = join(home.path, 'bad.yaml');
    await writeFile(
      config,
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: many\n',
    );
    const report = await doctor('--container-runtime-endpoint', 'unix:///nowhere/x.sock', '--config', config);
    assert.deepEqual(verdictsOf(report, 'configuration', 'runtime-checkpoint'), ['failed', 'unknown']);
    assert.match(report.rows.get('configuration')?.found ?? '', /bad\.yaml:3:10: maxPods/);
    assert.equal(report.code, exitCodes.failed);
  });

  test('an ordinary user sees what he may, and is told what he may not', async () => {
    await using place = await temporaryFolder('doctor-user-');
    await chmod(place.path, 0o755);
    const closed = join(place.path, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const [node, script] = program;
    const argv = [
      'doctor',
      '-o',
      'json',
      '--root-dir',
      join(closed, 'root'),
      '--lock-file',
      join(place.path, 'l'),
    ];
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];
    const socket = ['--container-runtime-endpoint', containerd.endpoint];
    const report = read(await runCommand('setpriv', [...user, node, script, ...argv, ...socket]));
    assert.deepEqual(verdictsOf(report, 'root-dir', 'criu-check'), ['unknown', 'unknown'], report.stdout);
    assert.match(report.rows.get('root-dir')?.advice ?? '', /as root/);
    for (const id of ['cgroup-version', 'seccomp', 'swap', 'lock', 'configuration'])
      assert.notEqual(report.rows.get(id)?.verdict, 'unknown', id);
  });

  test('the report begins with what failed and names what to do; a check that does not exist is told with those that do', async () => {
    const args = ['--root-dir', rootDir, '--container-runtime-endpoint', 'unix:///nowhere/x.sock'];
    const { code, stdout } = await nodeward(['doctor', '--only', 'runtime-socket,swap', ...args]);
    assert.equal(code, exitCodes.failed);
    assert.match(stdout, /^failed +runtime-socket .*\n +needed: .*\n +to do: start the runtime/);
    assert.match(stdout, /^\S+ +swap +swap: /m);
    assert.match(stdout, /\n2 checks: /);
    const wrong = await nodeward(['doctor', '--only', 'nothing', ...args]);
    assert.equal(wrong.code, exitCodes.usage);
    assert.match(wrong.stderr, /there is no check nothing; there are: sysctl-reserved-ports, /);
  });

  test('beside an agent that runs: its lock, its ports and its control plane are its own', async () => {
    const lock = join(home.path, 'agent.lock');
    const runtime = ['--container-runtime-endpoint', containerd.endpoint];
    await using agent = await startAgent({ rootDir, args: ['--lock-file', lock, ...runtime] });
    const port = new URL(agent.summary.agent).port;
    const node = agent.summary.node;
    const tool = kubectl(join(rootDir, 'admin.kubeconfig'), home.path);
    // the agent is ready before it has reached anybody
    await waitFor('the Node', async () => (await tool.run(['get', 'node', node])).code === 0);
    const ids = 'lock,agent-port,control-plane,root-dir,secret-files,checkpoint-dir,certificates';
    const report = await withRuntime(
      '--only',
      ids,
      '--lock-file',
      lock,
      '--port',
      port,
      '--hostname-override',
      node,
    );
    assert.deepEqual(
      [...report.rows.values()].filter(({ verdict }) => verdict !== 'ok'),
      [],
    );
    assert.match(report.rows.get('lock')?.found ?? '', new RegExp(`held by process ${agent.pid}\\b`));
    const path = '{.status.conditions[?(@.type=="CheckpointUnavailable")].status}';
    await waitFor(
      'the Node to say that checkpoints can be made',
      async () => {
        const { stdout } = await tool.run(['get', 'node', node, '-o', `jsonpath=${path}`]);
        return stdout === 'False';
      },
      { timeoutMs: 30_000 },
    );
  });

  test('a root folder that others can write in: doctor fails it, and the agent does not start with it', async () => {
    await using open = await temporaryFolder('doctor-open-');
    const cases: [(path: string) => Promise<void>, RegExp][] = [
      [(path) => chmod(path, 0o777), /mode 0777: everybody could put keys/],
      [(path) => chown(path, 65534, 65534), /belongs to user 65534 with mode 0700: that user could/],
    ];
    for (const [index, [change, told]] of cases.entries()) {
      const path = join(open.path, `root-${index}`);
      await mkdir(path, { mode: 0o700 });
      await change(path);
      const lock = ['--lock-file', join(open.path, 'lock')];
      const report = read(
        await nodeward(['doctor', '-o', 'json', '--only', 'root-dir', '--root-dir', path, ...lock]),
      );
      assert.deepEqual(verdictsOf(report, 'root-dir'), ['failed']);
      const agent = await runAgentToItsEnd({ rootDir: path, args: lock });
      assert.equal(agent.code, exitCodes.unwritable, agent.stderr);
      assert.match(agent.stderr, told);
      assert.deepEqual(await readdir(path), []);
    }
  });
});

test('containerd 1.6 cannot checkpoint: the version and what it answers say so', async () => {
  await using containerd = await startContainerd({ version: '1.6' });
  const only = ['--only', 'runtime-version,runtime-checkpoint'];
  const report = read(
    await nodeward(['doctor', '-o', 'json', ...only, '--container-runtime-endpoint', containerd.endpoint]),
  );
  assert.deepEqual(verdictsOf(report, 'runtime-version', 'runtime-checkpoint'), ['warning', 'failed']);
  assert.match(report.rows.get('runtime-checkpoint')?.advice ?? '', /containerd 2\.1 or later/);
});
