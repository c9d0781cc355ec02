/** The installed agent as a service of a real systemd, of 252 (Debian 12) and of 257 (Debian 13). */
// lane: waiting (for restarts, and for a control plane that comes late)
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import type { CommandResult, TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import type { LabMachine } from './lab/index.ts';
import { bootSystemd, fetched, startContainerd } from './lab/index.ts';

const unit = 'nodeward.service';
const unitFile = `/usr/lib/systemd/system/${unit}`;
const dropIn = `/etc/systemd/system/${unit}.d/test.conf`;
/** Empty it hides the one that is installed. */
const withoutPods = `/etc/systemd/system/${unit}.d/pods.conf`;
/** Sooner than in earnest, so that the test need not wait. */
const sooner = '[Service]\nWatchdogSec=3\nRestartSec=200ms\n';

let seed: TemporaryFolder;

before(async () => {
  await ensureBuilt();
  seed = await temporaryFolder('install-');
  const result = await runInstall([], seed.path);
  assert.equal(result.code, 0, result.stderr);
});
after(() => seed[Symbol.asyncDispose]());

function boot(root: string): Promise<LabMachine> {
  return bootSystemd({
    root,
    seed: seed.path,
    files: { [dropIn]: sooner },
    readOnlyBinds: { '/usr/local/bin/kubectl': fetched('tools/bin/kubectl') },
  });
}

async function succeed(running: Promise<CommandResult>): Promise<string> {
  const result = await running;
  assert.equal(result.code, 0, `${result.stdout}${result.stderr}`);
  return result.stdout;
}

const kubectl = (machine: LabMachine, ...argv: string[]) =>
  machine.run(['kubectl', '--kubeconfig=/var/lib/nodeward/admin.kubeconfig', ...argv]);

async function mainPid(machine: LabMachine): Promise<number> {
  return Number((await machine.show(unit, 'MainPID'))['MainPID']);
}

/** Waits until systemd has started the agent again and it is ready; gives its pid. */
function restarted(machine: LabMachine, before: number): Promise<number> {
  const again = async () => {
    const { MainPID, ActiveState } = await machine.show(unit, 'MainPID', 'ActiveState');
    return ActiveState === 'active' && Number(MainPID) > 0 && Number(MainPID) !== before && Number(MainPID);
  };
  return waitFor('the agent to be started again', again, { timeoutMs: 20_000, intervalMs: 100 });
}

async function renewTime(machine: LabMachine): Promise<number> {
  const text = await succeed(
    kubectl(machine, '-n', 'kube-node-lease', 'get', 'lease', '-o', 'jsonpath={.items[0].spec.renewTime}'),
  );
  return Date.parse(text);
}

/** Waits until the lease has been renewed after `since`. */
function heartbeat(machine: LabMachine, since: number): Promise<true> {
  const later = async () => (await renewTime(machine)) > since;
  return waitFor('a heartbeat', later, { timeoutMs: 25_000, intervalMs: 250 });
}

const diagnose = async (machine: LabMachine, error: unknown) =>
  new Error(`${String(error)}\n${await machine.journal(unit)}`, { cause: error });

for (const [root, version] of [
  ['bookworm', 252],
  ['trixie', 257],
] as const) {
  describe(`under systemd ${version}`, () => {
    let machine: LabMachine;
    before(async () => {
      machine = await boot(root);
    });
    after(() => machine[Symbol.asyncDispose]());

    /** A test whose failure shows the journal. */
    const story = (name: string, run: () => Promise<void>) =>
      test(name, async () => {
        try {
          await run();
        } catch (error) {
          throw await diagnose(machine, error);
        }
      });

    story('the unit is understood and well hardened', async () => {
      assert.match(
        await succeed(machine.run(['systemctl', '--version'])),
        new RegExp(`^systemd ${version} `),
      );
      const { stdout, stderr } = await machine.run(['systemd-analyze', 'verify', unitFile]);
      const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      // 252 does not know it and says so; the agent then does without
      const expected = version < 253 ? /Unknown key 'OpenFile' in section \[Service\], ignoring\.$/ : /^$/;
      assert.deepEqual(
        said.filter((line) => !expected.test(line)),
        [],
      );
      // by another name, since pods.conf is read with it; with that the score is in pods-systemd.test.ts
      await machine.sh(`cp ${unitFile} /tmp/alone.service`);
      const security = ['systemd-analyze', '--offline=true', '--threshold=22', 'security'];
      await succeed(machine.run([...security, '/tmp/alone.service']));
    });

    story('start returns when the agent is ready, and the status says how the node is', async () => {
      await succeed(machine.run(['systemctl', 'start', unit]));
      const { ActiveState, StatusText, NRestarts } = await machine.show(
        unit,
        'ActiveState',
        'StatusText',
        'NRestarts',
      );
      assert.deepEqual({ ActiveState, NRestarts }, { ActiveState: 'active', NRestarts: '0' });
      assert.match(StatusText ?? '', /^node \S+: container runtime, not ready: \S/);
      assert.match(await succeed(machine.run(['systemctl', 'status', '--no-pager', unit])), /Status: "node /);
      await waitFor('the node', async () =>
        (await kubectl(machine, 'get', 'nodes')).stdout.includes('NotReady'),
      );
      await heartbeat(machine, 0);
    });

    story(
      'the journal: entries of nodeward by name, with priorities, as text; one line for the start',
      async () => {
        await machine.sh('journalctl --sync');
        const entries = (...more: string[]) =>
          machine.sh(`journalctl --no-pager --quiet -o cat -t nodeward ${more.join(' ')}`);
        const all = await entries();
        const said = all.split('\n').filter((line) => line.startsWith('nodeward is ready'));
        assert.equal(said.length, 1, all);
        assert.match(
          said[0] ?? '',
          /^nodeward is ready: node \S+, API https:\S+, agent https:\S+, container runtime, not ready: /,
        );
        assert.doesNotMatch(all, /^ {2}(node|API|kubeconfig|try) /m, 'no banner');
        assert.match(all, /^\[control-plane\] the control plane serves url=/m);
        assert.doesNotMatch(all, /^\{"level"/m, 'no JSON');
        const warnings = await entries('-p', 'warning');
        assert.match(warnings, /^\[runtime\] container runtime is not ready .*reason=\w+ message=/m);
        assert.doesNotMatch(warnings, /the control plane serves/);
        const name = await machine.sh(`cat /proc/${await mainPid(machine)}/comm`);
        assert.equal(name.trim(), 'nodeward');
      },
    );
    story('an installed node takes flags from agent.env and drop-ins from config.d', async () => {
      const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration';
      await machine.sh(`printf '${head}\nmaxPods: 33\n' >/etc/nodeward/config.d/10.conf`);
      await machine.sh(
        `echo 'NODEWARD_FLAGS="--port=10399 --node-labels=zone=a,rack=7"' >/etc/nodeward/agent.env`,
      );
      await succeed(machine.run(['systemctl', 'restart', unit]));
      const pid = await mainPid(machine);
      const view = await machine.run(['nodeward', 'config', 'view', '--origin']);
      assert.match(
        view.stderr,
        new RegExp(
          `^looking at /etc/nodeward/config\\.yaml and /etc/nodeward/config\\.d, of the agent that runs \\(process ${pid}\\)$`,
          'm',
        ),
      );
      assert.match(view.stdout, /^maxPods +33 +\/etc\/nodeward\/config\.d\/10\.conf:3 /m);
      assert.match(view.stdout, /^port +10399 +flag --port /m);
      const doctor = await machine.run(['nodeward', 'doctor', '--only', 'agent-port,api-port,lock']);
      assert.equal(doctor.code, 0, doctor.stdout);
      assert.ok(doctor.stdout.includes(`10399: the agent (process ${pid}) listens there`), doctor.stdout);
      await machine.sh('echo "maxPodz: 3" >>/etc/nodeward/config.yaml');
      const check = await machine.run(['nodeward', 'config', 'check']);
      assert.equal(check.code, exitCodes.configuration);
      assert.match(check.stderr, /config\.yaml:\d+:1: maxPodz: unknown field/);
      await machine.sh('sed -i /maxPodz/d /etc/nodeward/config.yaml; rm -r /etc/nodeward/config.d');
      await succeed(machine.run(['systemctl', 'reload', unit]));
      assert.match(await machine.journal(unit), /config\.d: there is no such folder, so no drop-ins/);
      await machine.sh('rm /etc/nodeward/agent.env');
      await succeed(machine.run(['systemctl', 'restart', unit]));
      assert.doesNotMatch(await machine.journal(unit), /unset environment variable/);
      assert.match(await succeed(machine.run(['nodeward', 'config', 'view'])), /^port: 10250$/m);
    });

    story('a second agent, started by hand, is told whom to stop', async () => {
      const argv = [
        '/usr/bin/nodeward',
        'agent',
        '--root-dir',
        '/tmp/second',
        '--port',
        '0',
        '--secure-port',
        '0',
      ];
      const { code, stderr } = await machine.run(argv);
      assert.equal(code, exitCodes.locked, stderr);
      assert.match(stderr, new RegExp(`process ${await mainPid(machine)} \\(.*main\\.js agent`));
      assert.match(stderr, /systemctl stop nodeward\.service/);
      assert.equal((await machine.show(unit, 'ActiveState'))['ActiveState'], 'active');
    });

    story('an agent that stands still is ended by the watchdog, and the next one heartbeats', async () => {
      const pid = await mainPid(machine);
      const since = await renewTime(machine);
      await succeed(machine.run(['kill', '-STOP', String(pid)]));
      await restarted(machine, pid);
      assert.match(await machine.journal(unit), /Watchdog timeout/);
      await heartbeat(machine, since);
    });

    story('after kill -9 the next one takes over the lock and heartbeats', async () => {
      const pid = await mainPid(machine);
      const since = await renewTime(machine);
      await succeed(machine.run(['kill', '-KILL', String(pid)]));
      await restarted(machine, pid);
      assert.match(
        await machine.journal(unit),
        new RegExp(`taking over the lock .* process ${pid} left behind`),
      );
      await heartbeat(machine, since);
    });

    story('stop is clean and quick while somebody watches', async () => {
      const watch = 'kubectl --kubeconfig=/var/lib/nodeward/admin.kubeconfig get nodes --watch';
      const watching = machine.run(['sh', '-c', `exec ${watch} --output-watch-events >/tmp/watched`]);
      await waitFor('the watch', async () => /^ADDED /m.test(await machine.sh('cat /tmp/watched')));
      const startedMs = performance.now();
      await succeed(machine.run(['systemctl', 'stop', unit]));
      const tookMs = performance.now() - startedMs;
      const watched = await watching;
      assert.equal(watched.timedOut, false, 'the watch ends with the server');
      assert.ok(tookMs < 8_000, `it took ${Math.round(tookMs)} ms`);
      const shown = await machine.show(unit, 'Result', 'ExecMainStatus', 'ActiveState');
      assert.deepEqual(shown, { Result: 'success', ExecMainStatus: '0', ActiveState: 'inactive' });
      const left = await machine.sh('ls /run; pgrep --list-full node || true');
      assert.doesNotMatch(left, /nodeward\.lock$|nodeward\.lock\.lock|main\.js/m);
    });

    story('the lock and everything else works with a file system of its own too', async () => {
      await writeFile(await machine.hostPath(withoutPods), '');
      await succeed(machine.run(['systemctl', 'daemon-reload']));
      await succeed(machine.run(['systemctl', 'start', unit]));
      assert.match(
        await machine.sh('cat /run/nodeward.lock'),
        new RegExp(`"pid":${await mainPid(machine)},`),
      );
      await succeed(machine.run(['systemctl', 'restart', unit]));
      await succeed(machine.run(['systemctl', 'stop', unit]));
      await machine.sh(`rm ${withoutPods}; systemctl daemon-reload`);
    });

    story(
      'a first join while the control plane is away waits, says so, and is not ended by systemd',
      async () => {
        const kubeconfig =
          'apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "https://127.0.0.1:9", certificate-authority: /tmp/ca.crt}}]\nusers: [{name: u, user: {token: abcdef.0123456789abcdef}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n';
        await writeFile(await machine.hostPath('/etc/nodeward/bootstrap.kubeconfig'), kubeconfig);
        await machine.sh('cp /var/lib/nodeward/pki/ca.crt /etc/nodeward/ca.crt');
        await machine.sh('sed -i s,/tmp/ca.crt,/etc/nodeward/ca.crt, /etc/nodeward/bootstrap.kubeconfig');
        const start =
          'ExecStart=\nExecStart=/usr/bin/nodeward agent --config /etc/nodeward/config.yaml --root-dir /var/lib/nodeward/joining --bootstrap-kubeconfig /etc/nodeward/bootstrap.kubeconfig';
        await writeFile(await machine.hostPath(dropIn), `${sooner}TimeoutStartSec=8\n${start}\n`);
        await succeed(machine.run(['systemctl', 'daemon-reload']));
        await succeed(machine.run(['systemctl', 'start', '--no-block', unit]));
        const shown = () => machine.show(unit, 'ActiveState', 'StatusText', 'NRestarts');
        const isWaiting = async () =>
          /^not ready: no certificate for now: /.test((await shown())['StatusText'] ?? '');
        await waitFor('the status', isWaiting, { timeoutMs: 40_000 });
        const pid = await mainPid(machine);
        const uptime = `$(($(date +%s) - $(stat -c %Y /proc/${pid})))`;
        await waitFor(
          'more than TimeoutStartSec',
          async () => Number(await machine.sh(`echo ${uptime}`)) > 11,
          {
            timeoutMs: 30_000,
            intervalMs: 500,
          },
        );
        const { ActiveState, NRestarts } = await shown();
        assert.deepEqual({ ActiveState, NRestarts }, { ActiveState: 'activating', NRestarts: '0' });
        assert.equal(await mainPid(machine), pid);
        assert.match(await machine.journal(unit), /^nodeward is not ready yet: no certificate for now: /m);
        await succeed(machine.run(['systemctl', 'stop', unit]));
        await writeFile(await machine.hostPath(dropIn), sooner);
        await succeed(machine.run(['systemctl', 'daemon-reload']));
      },
    );

    story('a wrong configuration is told and not tried again and again', async () => {
      await machine.sh('echo "adress: 1.2.3.4" >> /etc/nodeward/config.yaml');
      const started = await machine.run(['systemctl', 'start', unit]);
      assert.notEqual(started.code, 0);
      const shown = await machine.show(unit, 'ExecMainStatus', 'NRestarts', 'ActiveState');
      assert.deepEqual(shown, {
        ExecMainStatus: String(exitCodes.configuration),
        NRestarts: '0',
        ActiveState: 'failed',
      });
      assert.match(await machine.journal(unit), /config\.yaml:\d+:1: adress: unknown field/);
    });
  });
}

test('hardened as it is, the agent reaches a real container runtime and takes a checkpoint', async () => {
  await using runtime = await startContainerd({ cni: true });
  const container = await (await runtime.startPod({ name: 'web', namespace: 'shop' })).startContainer({
    name: 'main',
  });
  await container.countsOn();
  // The runtime, outside, writes where the agent, inside, looks; /tmp is not the same for both.
  await using state = await folderOf('/var/lib/nodeward-test-');
  await using machine = await bootSystemd({
    root: 'trixie',
    seed: seed.path,
    files: {
      [withoutPods]: '',
      [dropIn]: [
        '[Service]',
        `ReadWritePaths=${state.path}`,
        'ExecStart=',
        `ExecStart=/usr/bin/nodeward agent --config /etc/nodeward/config.yaml --root-dir ${state.path}`,
      ].join('\n'),
    },
    binds: { [state.path]: state.path, '/run/containerd/containerd.sock': runtime.socket },
  });
  try {
    await succeed(machine.run(['systemctl', 'start', unit]));
    const ready = async () => / ready$/.test((await machine.show(unit, 'StatusText'))['StatusText'] ?? '');
    await waitFor('the runtime to be ready', ready);
    const isRegistered = async () => (await machine.journal(unit)).includes('Node created');
    await waitFor('the node to be registered', isRegistered);
    const taken = ['/usr/bin/nodeward', 'checkpoint', '--root-dir', state.path, 'shop/web/main'];
    const archive =
      (await succeed(machine.run(taken, { timeoutMs: 60_000 }))).trim().split('\n').at(-1) ?? '';
    assert.match(archive, /\/checkpoints\/checkpoint-web_shop-main-.*\.tar$/);
    assert.equal((await stat(archive)).mode & 0o777, 0o600);
    assert.match(await runSuccessfully('tar', ['--list', '--file', archive]), /core-1\.img/);
    await container.countsOn();
    await succeed(machine.run(['systemctl', 'stop', unit]));
  } catch (error) {
    throw await diagnose(machine, error);
  }
});

async function folderOf(prefix: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(prefix);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
