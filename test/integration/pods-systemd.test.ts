/** Pods of the installed service, with and without the drop-in that lets it run them, under systemd 252 and 257. */
import assert from 'node:assert/strict';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import type { LabMachine } from './lab/index.ts';
import { bootSystemd, fetched, image, repository, systemBus } from './lab/index.ts';
import { standIns } from './pages/stand-ins.ts';

const unit = 'nodeward.service';
const kubectl = 'kubectl --kubeconfig=/var/lib/nodeward/admin.kubeconfig';

/** In either version of its configuration, each of which ignores the plugins of the other. */
const containerdConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${image}"
`;

const shutdownConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
shutdownGracePeriod: 25s
`;

/** Everything that the agent itself mounts, owns or writes for a pod, as a user who is nobody on the machine sees it. */
const script = `set -e
test -s /var/run/secrets/kubernetes.io/serviceaccount/token
grep -q localhost /etc/hosts
grep ' /memory tmpfs ' /proc/mounts
echo written > /memory/file
echo written > /part/file
mkdir -m 700 /part/own
echo written > /part/own/file
stat -c '%n %u:%g' /memory/file /part/file
echo told > /dev/termination-log
echo everything is there
exec sleep 1000`;

const pod = (name: string, node: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: node,
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 },
    volumes: [
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'disk', emptyDir: {} },
    ],
    containers: [
      {
        name: 'main',
        image,
        imagePullPolicy: 'Never',
        command: ['sh', '-c', script],
        volumeMounts: [
          { name: 'memory', mountPath: '/memory' },
          { name: 'disk', mountPath: '/part', subPath: 'below/part' },
        ],
      },
    ],
  },
});

let seed: TemporaryFolder;

before(async () => {
  await ensureBuilt();
  seed = await temporaryFolder('install-');
  const result = await runInstall([], seed.path);
  assert.equal(result.code, 0, result.stderr);
});
after(() => seed?.[Symbol.asyncDispose]());

async function boot(root: 'bookworm' | 'trixie', containerd: string): Promise<LabMachine> {
  const { '/opt/stand-ins/runc': runc = '', '/opt/stand-ins/containerd.service': service = '' } = standIns;
  const machine = await bootSystemd({
    root,
    seed: seed.path,
    files: {
      '/usr/sbin/runc': runc,
      '/usr/lib/systemd/system/containerd.service': service,
      '/etc/hosts': '127.0.0.1 localhost\n',
      '/etc/resolv.conf': 'nameserver 192.0.2.53\n',
      '/etc/containerd/config.toml': containerdConfig,
      '/etc/nodeward/config.d/10-shutdown.conf': shutdownConfig,
      ...systemBus.files,
      '/etc/systemd/system/poweroff.target': '[Unit]\nDescription=An end that does nothing\n',
    },
    readOnlyBinds: {
      '/opt/packages/node_modules': await realpath(join(repository, 'node_modules')),
      '/opt/packages/containerd': fetched(containerd, 'bin'),
      '/opt/image': fetched('image'),
      ...systemBus.readOnlyBinds,
      '/usr/local/bin/kubectl': fetched('tools/bin/kubectl'),
    },
  });
  await machine.sh(`chmod 755 /usr/sbin/runc
ln -s /opt/packages/containerd/containerd* /opt/packages/containerd/ctr /usr/bin
mkdir -p /var/lib/containerd
mount -t tmpfs containerd /var/lib/containerd
systemctl start containerd
ctr --namespace k8s.io images import /opt/image/busybox.tar`);
  return machine;
}

async function makePod(machine: LabMachine, name: string): Promise<void> {
  const names = [...kubectl.split(' '), 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'];
  const node = await waitFor(
    'the node in the API',
    async () => (await machine.run(names)).stdout || undefined,
  );
  await writeFile(await machine.hostPath('/tmp/pod.json'), JSON.stringify(pod(name, node)));
  await machine.sh(`${kubectl} create -f /tmp/pod.json`);
}

/** What the command writes, once it matches; else what is known of the pod. */
async function said(machine: LabMachine, command: string, wanted: RegExp): Promise<string> {
  let text = '';
  try {
    await waitFor(`${wanted}`, async () => {
      text = (await machine.run(['sh', '-c', command])).stdout;
      return wanted.test(text);
    });
    return text;
  } catch (error) {
    const { stdout } = await machine.run([
      'sh',
      '-c',
      `${kubectl} get events; nodeward pods explain default/web`,
    ]);
    throw new Error([error, text, stdout, await machine.journal(unit)].join('\n'), { cause: error });
  }
}

/** The real logind; the target that it starts at last does nothing here, so it says then that the shutdown is over. */
async function shutDown(machine: LabMachine): Promise<void> {
  const held = /^nodeward .* shutdown .* delay/m;
  await said(machine, 'systemd-inhibit --list', held);
  await said(
    machine,
    'nodeward doctor --only shutdown-delay',
    /waits for 30 s at most, and the agent delays it/,
  );
  await machine.sh('systemctl poweroff');
  const status = `${kubectl} get pod web -o jsonpath='{.status.phase} {.status.reason}: {.status.message}'`;
  const ended = /^Failed Terminated: Pod was terminated in response to imminent node shutdown\.$/;
  await said(machine, status, ended);
  const log = `journalctl --no-pager --output cat --unit ${unit}`;
  await said(machine, log, /about to shut down[\s\S]*all pods have ended[\s\S]*was given up/);
  await said(machine, 'systemd-inhibit --list', held);
}

const mountNamespaces = async (machine: LabMachine) => {
  const { MainPID } = await machine.show(unit, 'MainPID');
  return (await machine.sh(`readlink /proc/1/ns/mnt /proc/${MainPID}/ns/mnt`)).trim().split('\n');
};

describe('pods of the installed service', { concurrency: true, timeout: 180_000 }, () => {
  for (const [root, version, containerd] of [
    ['bookworm', 252, 'containerd-1.6'],
    ['trixie', 257, 'containerd-2.1'],
  ] as const) {
    test(`under systemd ${version} run with their volumes; without the drop-in it is told`, async () => {
      await using machine = await boot(root, containerd);
      const verified = await machine.run(['systemd-analyze', 'verify', `/usr/lib/systemd/system/${unit}`]);
      assert.doesNotMatch(`${verified.stdout}${verified.stderr}`, /pods\.conf/);
      const security = await machine.run(['systemd-analyze', '--threshold=49', 'security', unit]);
      assert.equal(security.code, 0, security.stdout);
      assert.equal((await machine.run(['systemctl', 'start', unit])).code, 0, await machine.journal(unit));
      const [ofMachine, ofAgent] = await mountNamespaces(machine);
      assert.equal(ofAgent, ofMachine);

      await makePod(machine, 'web');
      const log = await said(machine, 'cat /var/log/pods/*_web_*/main/*.log', /everything is there/);
      for (const file of ['/memory/file', '/part/file']) assert.ok(log.includes(`${file} 1000:2000`), log);
      await shutDown(machine);
      await machine.sh(`${kubectl} delete pod web --grace-period=0`);
      await said(machine, 'ls /var/lib/nodeward/pods', /^$/);
      assert.equal((await machine.run(['nodeward', 'doctor', '--only', 'pod-rights'])).code, 0);

      await machine.sh(`rm /usr/lib/systemd/system/${unit}.d/pods.conf`);
      await machine.sh(`systemctl daemon-reload && systemctl restart ${unit}`);
      await makePod(machine, 'web');
      await said(machine, 'nodeward pods explain default/web', /waits for.*doctor --only pod-rights/);
      const doctor = await machine.run(['nodeward', 'doctor', '--only', 'pod-rights']);
      assert.match(doctor.stdout, /CAP_SYS_ADMIN[\s\S]*pods\.conf/);
      const told = /rights of the agent to run pods check=pod-rights .*CAP_SYS_ADMIN.*pods\.conf/;
      await said(machine, `journalctl --no-pager --output cat --unit ${unit}`, told);
    });
  }
});
