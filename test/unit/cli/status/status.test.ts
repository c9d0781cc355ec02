import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { RuntimeLock } from '../../../../src/agent/lock/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { validity } from '../../../../src/base/x509/index.ts';
import { inspectCertificates } from '../../../../src/cli/status/certificates.ts';
import { toReport } from '../../../../src/cli/status/report.ts';
import { renderKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { admin as pair } from '../../agent/server/running-server.ts';
import { nodeWith } from '../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const statusPath = '/api/v1/nodes/node-a/status';
const headers = { 'content-type': 'application/strategic-merge-patch+json' };

/** A control plane with one node, and what a user asks it; `checkpoints`: what the agent answers. */
async function world(checkpoints: object) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const server = stack.use(await startServer());
  stack.use(
    await nodeWith(server, 'node-a', (_request, response) => void response.end(JSON.stringify(checkpoints))),
  );
  await mkdir(join(folder.path, 'pki'));
  await writeFile(join(folder.path, 'pki/agent.crt'), pair.cert);
  const say = async (status: string, reason: string, message = '') => {
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: 'Ready', status, reason, message, lastTransitionTime }];
    const reply = await server.admin.request('PATCH', statusPath, {
      body: { status: { conditions } },
      headers,
    });
    assert.equal(reply.code, 200, reply.text);
  };
  const kubeconfig = ['--kubeconfig', server.running.kubeconfig];
  const run = (...args: string[]) => runCommandLine([...args, ...kubeconfig, '--root-dir', folder.path]);
  const more = stack.move();
  const places = { server, folder: folder.path, kubeconfig: server.running.kubeconfig };
  return { run, say, ...places, [Symbol.asyncDispose]: () => more.disposeAsync() };
}

describe('nothing shows the state of a node at a glance', () => {
  test('status says that all is well with 0, in one screen', async () => {
    await using at = await world({ items: [] });
    await at.say('True', 'KubeletReady');
    const { code, stdout } = await at.run('status');
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^ok +node +node-a is ready for \d+s, with some$/m);
    assert.match(stdout, /^ok +control plane +https:\/\/127\.0\.0\.1:\d+, v1\.31/m);
    assert.match(stdout, /^ok +pods +none$/m);
    assert.match(stdout, /^ok +checkpoints +there are none$/m);
    assert.ok(stdout.split('\n').length < 24);
  });

  test('what the node is short of, and what was done for it', async () => {
    const pressure = {
      ...{ condition: 'DiskPressure', since: new Date().toISOString(), found: 'nodefs.available is 5Mi' },
      last: { time: new Date().toISOString(), what: 'removes dead containers' },
    };
    await using at = await world({ items: [], pressures: [pressure] });
    await at.say('True', 'KubeletReady');
    const { code, stdout } = await at.run('status');
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^warning +pressure +the node has DiskPressure for \d+s: nodefs\.available is 5Mi; \d+s ago: removes dead containers$/m,
    );
  });

  test('what is wrong comes first, with the command that mends it, and the code is 1', async () => {
    const id = 'checkpoint-web_shop-main-2026-01-02T03:04:05.000000000Z';
    await using at = await world({
      items: [{ id, state: 'Damaged', record: { startedAt: '2026-01-02T03:04:05Z' } }],
    });
    await at.say('False', 'KubeletNotReady', 'no container runtime');
    const { code, stdout } = await at.run('status');
    assert.equal(code, 1);
    const lines = stdout.split('\n');
    assert.match(
      lines[0] ?? '',
      /^failed +node +node-a is not ready since \d+s: KubeletNotReady: no container runtime$/,
    );
    assert.match(lines[1] ?? '', /^ +to do: nodeward doctor; nodeward history node-a$/);
    assert.match(lines[3] ?? '', new RegExp(`to do: nodeward checkpoint verify ${id}$`));
    const { well, parts } = JSON.parse((await at.run('status', '-o', 'json')).stdout);
    assert.deepEqual([well, parts[0].part, parts[0].state], [false, 'node', 'failed']);
  });

  test('a manifest that is not used is not well, though everything else is', async () => {
    const message = 'manifest web.yaml is invalid: apiVersion: Unsupported value: "v2"';
    await using at = await world({ items: [], refusedManifests: [{ message }, { message: 'another' }] });
    await at.say('True', 'KubeletReady');
    const { code, stdout } = await at.run('status');
    assert.equal(code, 1, stdout);
    const [first, second] = stdout.split('\n');
    assert.equal(first, `warning  manifests      not used: ${message}; and 1 more`);
    assert.match(second ?? '', /^ +to do: nodeward pods ls$/);
  });

  test('a control plane and an agent that are not there are what is wrong', async () => {
    await using folder = await temporaryFolder();
    const { code, stdout } = await runCommandLine(['status', '--root-dir', folder.path]);
    assert.equal(code, 1);
    assert.match(stdout, /^unknown +control plane +there is no/m);
    assert.match(stdout, /^failed +agent +there is no kubeconfig/m);
    assert.match(stdout, /^unknown +certificates/m);
  });

  test('an agent that is not there because another one uses its runtime: that one is named', async () => {
    await using folder = await temporaryFolder();
    const socket = join(folder.path, 'runtime.sock');
    await using _runtime = createServer((connection) => connection.destroy()).listen(socket);
    const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://${socket}
`;
    await writeFile(join(folder.path, 'config.yaml'), config);
    const env = { NODEWARD_ETC_DIR: folder.path };
    const ofAgent = async () => {
      const { stdout } = await runCommandLine(['status', '-o', 'json'], { env });
      return JSON.parse(stdout).parts.find(({ part }: { part: string }) => part === 'agent');
    };
    assert.doesNotMatch((await ofAgent()).found, /runtime/);
    const log = silentLogger();
    await using other = new RuntimeLock({ rootDir: '/roots/other', clock: systemClock, log });
    await other.claim(socket);
    assert.deepEqual(await ofAgent(), {
      part: 'agent',
      state: 'failed',
      found: `it cannot run: its container runtime is used by another agent: process ${process.pid} with the root folder /roots/other`,
      mend: 'nodeward doctor --only runtime-agent',
    });
  });

  test('the certificates of a folder are not told as those of the cluster of a kubeconfig', async () => {
    await using at = await world({ items: [] });
    await at.say('True', 'KubeletReady');
    assert.doesNotMatch((await at.run('status')).stdout, /certificates/);
    const env = { KUBECONFIG: at.kubeconfig };
    const { code, stdout } = await runCommandLine(['status'], { env });
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /certificates/);
    const folder = await runCommandLine(['status', '--root-dir', at.folder]);
    assert.match(
      folder.stdout,
      /^ok +certificates +the first of 1 to expire is agent\.crt, on \d{4}-\d\d-\d\d \(in \d+ days\)$/m,
    );
  });

  test('what the user of a kubeconfig may not look at is unknown, and does not count', async () => {
    await using at = await world({ items: [] });
    const { url, ca } = at.server.running;
    const pairOfUser = await at.server.issue({ commonName: 'stranger' });
    const file = join(at.folder, 'stranger.kubeconfig');
    await writeFile(file, renderKubeconfig({ server: url, ca, ...pairOfUser, user: 'stranger' }));
    for (const more of [[], ['--node', 'node-a']]) {
      const { code, stdout } = await runCommandLine(['status', '--kubeconfig', file, ...more]);
      assert.equal(code, 0, stdout);
      for (const part of ['store', 'node', 'agent'])
        assert.match(stdout, new RegExp(`^unknown +${part} +.*(forbidden|answers 403)`, 'm'));
    }
  });

  test('what it looks at is told once', async () => {
    await using at = await world({ items: [] });
    const { stderr } = await runCommandLine(['status'], { env: { KUBECONFIG: at.kubeconfig } });
    assert.equal(stderr, `using ${at.kubeconfig}, $KUBECONFIG\n`);
  });

  test('certificates that have expired or are about to are told', async () => {
    await using folder = await temporaryFolder();
    const { notAfterMs } = validity(pair.cert);
    await writeFile(join(folder.path, 'a.crt'), pair.cert);
    const stateAt = async (ms: number) => (await inspectCertificates(folder.path, notAfterMs + ms)).state;
    assert.deepEqual(await Promise.all([1, -1000].map((ms) => stateAt(ms * 24 * 3600))), [
      'failed',
      'warning',
    ]);
  });

  test('a finding is one line, whatever is in it', () => {
    const findings = [{ part: 'node', state: 'failed', found: 'a\nb\u001b[2J', mend: 'c\nd' }] as const;
    const { text } = toReport(findings, 'nodeward');
    assert.equal(text((each) => each).split('\n').length, 5);
  });

  test('in a checkout the commands are those that can be run there', () => {
    const mend = 'nodeward doctor; nodeward history nodeward a';
    const { text } = toReport([{ part: 'node', state: 'failed', found: 'x', mend }], './nodeward');
    assert.match(
      text((each) => each),
      /to do: \.\/nodeward doctor; \.\/nodeward history nodeward a$/m,
    );
  });
});

describe('nodeward history', () => {
  test('lists the changes of a node with reasons and times', async () => {
    await using at = await world({ items: [] });
    await waitFor('a change to be seen', async () => {
      await at.say('False', 'KubeletNotReady', 'no runtime');
      await at.say('True', 'KubeletReady');
      const { stdout } = await at.run('history', 'node-a', '-o', 'json');
      return JSON.parse(stdout).items.length >= 2;
    });
    const { code, stdout } = await at.run('history', 'node-a');
    assert.equal(code, 0);
    assert.match(stdout, /^TIME +AGO +WHAT +FROM +TO +REASON +MESSAGE$/m);
    assert.match(stdout, /^\d{4}-\S+Z +\d+s +Ready +\S+ +True +KubeletReady +-$/m);
  });

  test('without an argument it is of the only node, whatever this machine is named', async () => {
    await using at = await world({ items: [] });
    const { code, stdout } = await at.run('history', '-o', 'json');
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).node, 'node-a');
  });

  test('a node that there is not, without a history, is an error', async () => {
    await using at = await world({ items: [] });
    const { code, stdout, stderr } = await at.run('history', 'nobody');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^nodeward: there is no node nobody, and no history of one; .*kubectl get nodes\n$/);
  });
});
