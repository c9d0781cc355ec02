/** Loading the configuration anew while the real program runs, by `nodeward reload`, by SIGHUP and by systemd. */
import assert from 'node:assert/strict';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, temporaryFolder, waitFor } from '../support/index.ts';
import { createTestAuthority } from '../unit/agent/identity/pki.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import { bootSystemd, kubectl } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { curl, nodeward, startAgent } from './nodeward/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

before(ensureBuilt);

describe('a running agent', () => {
  let home: TemporaryFolder;
  let rootDir = '';
  let config = '';
  let agent: RunningAgent;

  const write = (text: string) => writeFile(config, `${head}${text}`);
  const reload = (...args: string[]) => nodeward(['reload', '--root-dir', rootDir, ...args]);
  const start = () =>
    startAgent({
      rootDir,
      args: [
        '--config',
        config,
        '--container-runtime-endpoint',
        'unix:///nowhere/x.sock',
        '--node-labels',
        'zone=a',
      ],
    });
  const pki = (name: string) => readFile(join(rootDir, 'pki', name), 'utf8');
  /** What `/configz` answers to an administrator. */
  const configz = async (
    query = '',
  ): Promise<{ kubeletconfig: Record<string, unknown>; origins?: unknown[] }> => {
    const url = `${agent.summary.agent}/configz${query}`;
    const { code, body } = await curl(join(rootDir, 'pki'), url, { method: 'GET' });
    assert.equal(code, 200, body);
    return JSON.parse(body);
  };
  const nodeField = async (path: string) => {
    const tool = kubectl(join(rootDir, 'admin.kubeconfig'), home.path);
    const got = await tool.run(['get', 'node', agent.summary.node, '-o', `jsonpath=${path}`]);
    return got.stdout;
  };
  const podsBecome = (count: string) =>
    waitFor(
      `maxPods ${count} to be in the status`,
      async () => (await nodeField('{.status.capacity.pods}')) === count,
    );

  /** Sends SIGHUP and waits until the agent says so, as it may have done before. */
  async function hungUp(says: RegExp): Promise<void> {
    const before = agent.process.stderr.length;
    process.kill(agent.pid, 'SIGHUP');
    await waitFor(`${says} from the agent`, () => says.test(agent.process.stderr.slice(before)));
  }

  before(async () => {
    home = await temporaryFolder('reload-');
    rootDir = join(home.path, 'root');
    config = join(home.path, 'config.yaml');
    await write(
      'maxPods: 10\nregisterWithTaints: [{key: fresh, value: "yes", effect: NoSchedule}]\nproviderID: lab://1\nsystemReserved: {cpu: 100m}\n',
    );
    agent = await start();
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('registers its Node as the configuration says, and answers the same as config view', async () => {
    await podsBecome('10');
    assert.match(await nodeField('{.spec.taints}'), /"key":"fresh".*"value":"yes"/);
    assert.equal(await nodeField('{.spec.providerID}'), 'lab://1');
    assert.equal(await nodeField('{.metadata.labels.zone}'), 'a');
    assert.match(await nodeField('{.status.allocatable.cpu}'), /^\d*900m$/);
    const flags = [
      '--config',
      config,
      '--port',
      '0',
      '--container-runtime-endpoint',
      'unix:///nowhere/x.sock',
    ];
    const view = await nodeward(['config', 'view', '-o', 'json', ...flags]);
    assert.deepEqual((await configz()).kubeletconfig, JSON.parse(view.stdout));
    const origins = await nodeward(['config', 'view', '--origin', '-o', 'json', ...flags]);
    assert.deepEqual((await configz('?origin=true')).origins, JSON.parse(origins.stdout));
    const stranger = await curl(join(rootDir, 'pki'), `${agent.summary.agent}/configz`, {
      as: 'none',
      method: 'GET',
    });
    assert.equal(stranger.code, 401);
  });

  test('a good configuration counts when the command ends', async () => {
    await write('maxPods: 20\naddress: 127.0.0.1\nkubeAPIQPS: 7\n');
    const { code, stdout, stderr } = await reload();
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^counts now: .*maxPods/m);
    assert.match(stdout, /^needs a restart of the agent: address$/m);
    assert.match(stderr, /^warning: .*config\.yaml:5: kubeAPIQPS has no effect here/m);
    assert.equal((await configz()).kubeletconfig['maxPods'], 20);
    assert.equal((await configz()).kubeletconfig['address'], '0.0.0.0');
    await podsBecome('20');
    assert.equal((await lstat(join(rootDir, 'agent.sock'))).mode & 0o777, 0o600);
  });

  test('a bad one is refused with all that is wrong, and the old one is kept', async () => {
    await write('maxPods: many\nadress: 127.0.0.1\n');
    const { code, stdout, stderr } = await reload();
    assert.equal(code, exitCodes.configuration);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /the agent keeps the configuration that it has:\n.*:3:10: maxPods: .*\n.*:4:1: adress: unknown/,
    );
    assert.equal((await configz()).kubeletconfig['maxPods'], 20);
  });

  test('certificates from files are shown, and whose clients count, without a restart', async () => {
    const other = await createTestAuthority('other');
    const pair = await other.issue('agent', [], 'server', { names: ['127.0.0.1'] });
    for (const [name, text] of Object.entries({ 'a.crt': pair.cert, 'a.key': pair.key, 'ca.crt': other.ca }))
      await writeFile(join(home.path, name), text);
    const files =
      'tlsCertFile: a.crt\ntlsPrivateKeyFile: a.key\nauthentication: {x509: {clientCAFile: ca.crt}}\n';
    await write(`maxPods: 20\n${files}authorization: {mode: AlwaysAllow}\n`);
    assert.match(
      (await reload()).stdout,
      /^counts now: authentication, authorization, tlsCertFile, tlsPrivateKeyFile$/m,
    );
    const { port } = new URL(agent.summary.agent);
    const somebody = await other.issue('somebody', [], 'client');
    assert.equal(await statusFor(Number(port), other.ca, somebody), 200, 'whoever is known may');
    const admin = { cert: await pki('admin.crt'), key: await pki('admin.key') };
    assert.equal(await statusFor(Number(port), other.ca, admin), 401, 'of the authority before');

    await writeFile(join(home.path, 'a.key'), 'nonsense');
    const { code, stderr } = await reload();
    assert.equal(code, exitCodes.configuration);
    assert.match(stderr, /tlsPrivateKeyFile: .*a\.key cannot be used/);
    assert.equal(await statusFor(Number(port), other.ca, somebody), 200);

    await write('maxPods: 20\n');
    assert.equal((await reload()).code, exitCodes.ok);
    assert.equal((await configz()).kubeletconfig['maxPods'], 20, 'the node’s own again');
  });

  test('SIGHUP loads it again too; a bad one is logged, and the agent runs on', async () => {
    await write('maxPods: many\nadress: 127.0.0.1\n');
    await hungUp(/the configuration is kept as it was, the new one cannot be used: .*adress/s);
    await write('maxPods: 30\n');
    await hungUp(/configuration loaded again: .*maxPods.* counts? now/);
    assert.equal((await configz()).kubeletconfig['maxPods'], 30);
    assert.equal(agent.process.exit, undefined);
  });

  test('many at once, while it is busy, all end well and see what was written before', async () => {
    for (const count of [41, 42, 43]) {
      await write(`maxPods: ${count}\n`);
      const busy = Array.from({ length: 20 }, () =>
        curl(join(rootDir, 'pki'), `${agent.summary.agent}/metrics`, { method: 'GET' }),
      );
      process.kill(agent.pid, 'SIGHUP');
      const ends = await Promise.all([reload(), reload()]);
      for (const { code, stderr } of ends) assert.equal(code, exitCodes.ok, stderr);
      assert.equal((await configz()).kubeletconfig['maxPods'], count);
      await Promise.all(busy);
    }
  });

  test('the socket that a killed agent leaves is told as such, and the next agent replaces it', async () => {
    await agent.process.kill9();
    assert.ok((await lstat(join(rootDir, 'agent.sock'))).isSocket());
    const { code, stderr } = await reload();
    assert.equal(code, exitCodes.failed);
    assert.match(stderr, /no agent listens on .*agent\.sock: start one/);
    agent = await start();
    await write('maxPods: 50\n');
    assert.equal((await reload()).code, exitCodes.ok);
    assert.equal((await configz()).kubeletconfig['maxPods'], 50);
  });

  test('a stop takes the socket away', async () => {
    const { code } = await agent.interrupt();
    assert.equal(code, 0);
    await assert.rejects(lstat(join(rootDir, 'agent.sock')), /ENOENT/);
  });
});

/** What a client gets that trusts `ca` and shows `pair`. */
function statusFor(
  port: number,
  ca: string,
  pair: { cert: string; key: string },
): Promise<number | undefined> {
  const answered = Promise.withResolvers<number | undefined>();
  get({ host: '127.0.0.1', port, path: '/healthz', ca, ...pair, agent: false }, (response) => {
    response.resume();
    answered.resolve(response.statusCode);
  }).on('error', answered.reject);
  return answered.promise;
}

test('an agent whose terminal goes stops; the same signal in an open terminal loads the configuration', async () => {
  await using home = await temporaryFolder('terminal-');
  const rootDir = join(home.path, 'root');
  // python3 stands for a terminal: it runs the agent in one, says SIGHUP, and then closes it
  const { code, stdout, stderr } = await runCommand('python3', [
    '-c',
    terminal,
    process.execPath,
    join(import.meta.dirname, '../../dist/main.js'),
    'agent',
    '--root-dir',
    rootDir,
    '--lock-file',
    join(home.path, 'lock'),
    '--port=0',
    '--embedded-control-plane=false',
  ]);
  assert.equal(code, 0, `${stdout}${stderr}`);
});

const terminal = `
import os, pty, signal, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
heard = b''
def hear(word):
    global heard
    while word not in heard:
        heard += os.read(master, 4096)
try:
    hear(b'nodeward is ready')
    os.kill(pid, signal.SIGHUP)
    hear(b'configuration loaded again')
except OSError:
    sys.exit('it ended early: ' + heard.decode())
os.close(master)
deadline = time.time() + 15
while time.time() < deadline:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        sys.exit(0 if os.waitstatus_to_exitcode(status) == 0 else 'it ended with %d' % status)
    time.sleep(0.05)
os.kill(pid, signal.SIGKILL)
sys.exit('it did not end with its terminal')
`;

for (const [root, version] of [
  ['bookworm', 252],
  ['trixie', 257],
] as const) {
  test(`systemctl reload under systemd ${version} waits, and fails on a bad configuration`, async () => {
    await using seed = await temporaryFolder('reload-install-');
    const installed = await runInstall([], seed.path);
    assert.equal(installed.code, 0, installed.stderr);
    await using machine = await bootSystemd({ root, seed: seed.path });
    const unit = 'nodeward.service';
    const state = async () => (await machine.show(unit, 'ActiveState'))['ActiveState'];
    const systemctl = async (verb: string) => (await machine.run(['systemctl', verb, unit])).code;
    try {
      assert.equal(await systemctl('start'), 0);
      await machine.sh('echo "maxPods: 20" >> /etc/nodeward/config.yaml');
      assert.equal(await systemctl('reload'), 0);
      assert.match(await machine.journal(unit), /configuration loaded again: maxPods counts now/);
      assert.equal(await state(), 'active');
      await machine.sh('echo "adress: 1.2.3.4" >> /etc/nodeward/config.yaml');
      assert.notEqual(await systemctl('reload'), 0);
      assert.match(await machine.journal(unit), /config\.yaml:\d+:1: adress: unknown field/);
      assert.equal(await state(), 'active');
      const { MainPID } = await machine.show(unit, 'MainPID');
      await machine.sh(`kill -HUP ${MainPID}`);
      await waitFor('the agent to be active again', async () => (await state()) === 'active');
      assert.equal((await machine.show(unit, 'MainPID'))['MainPID'], MainPID);
      assert.equal(await systemctl('stop'), 0);
    } catch (error) {
      throw new Error(`${String(error)}\n${await machine.journal(unit)}`, { cause: error });
    }
  });
}
