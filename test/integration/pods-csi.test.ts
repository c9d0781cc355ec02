/** Pods with storage that outlives them: a driver that registers, claims, a local folder, a device; an agent that is killed. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { attachmentName } from '../../src/agent/volumes/csi/paths.ts';
import type { PersistentVolumeClaim, PersistentVolumeSpec, Pod } from '../../src/api/index.ts';
import {
  csiDriverKind,
  eventKind,
  nodeKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  secretKind,
  volumeAttachmentKind,
} from '../../src/api/index.ts';
import { writeFileAtomic } from '../../src/base/index.ts';
import { ifFound } from '../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import type { ExamplePlugin } from './example-plugins/start.ts';
import { startPlugin } from './example-plugins/start.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode, PodSpec } from './pods/index.ts';
import { isRunningAndReady, logOf, script, startPodNode, uidOf } from './pods/index.ts';
import { loopDevice } from './volumes/loop-device.ts';

before(ensureBuilt);

const driverName = 'disk.example.com';
const namespace = 'default';
type VolumeSpec = Pick<PersistentVolumeSpec, 'csi' | 'local' | 'nodeAffinity' | 'volumeMode'>;

let resources: AsyncDisposableStack;
let lab: PodNode;
let driver: ExamplePlugin;
let home: string;

before(async () => {
  await using setup = new AsyncDisposableStack();
  home = setup.use(await temporaryFolder('disks-')).path;
  lab = setup.use(await startPodNode({ config: 'syncFrequency: 1s' }));
  await startDriver();
  setup.defer(() => driver[Symbol.asyncDispose]());
  resources = setup.move();
});
after(() => resources?.disposeAsync());

async function startDriver(): Promise<void> {
  const place = { folder: join(lab.rootDir, 'plugins_registry'), socket: 'disk' };
  const own = ['--volumes', home, '--answers', join(home, 'answers')];
  driver = await startPlugin('csi', place, ['--name', driverName, '--node-id', 'lab', ...own], lab.node);
  await waitFor('it to be registered', () => driver.events().some(({ event }) => event === 'registered'));
}

/** A claim with a volume of that name. */
async function bind(name: string, spec: VolumeSpec): Promise<void> {
  const claim = await lab.api.create(persistentVolumeClaimKind, {
    metadata: { name, namespace },
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], storageClassName: '', volumeName: name },
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await provide(claim, name, spec);
}

/** Makes a volume for a claim and binds the two, as the controllers of a cluster do. */
async function provide(claim: PersistentVolumeClaim, volumeName: string, spec: VolumeSpec): Promise<void> {
  const { name = '', uid = '' } = claim.metadata ?? {};
  await lab.api.create(persistentVolumeKind, {
    metadata: { name: volumeName },
    spec: {
      ...spec,
      ...{ accessModes: ['ReadWriteOnce'], storageClassName: '', capacity: { storage: '1Gi' } },
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name, uid },
    },
  });
  if (claim.spec?.volumeName === undefined) {
    const bound = { spec: { volumeName } };
    await lab.api.patch(persistentVolumeClaimKind, name, bound, { namespace, as: 'merge' });
  }
  const status = { status: { phase: 'Bound' } };
  const place = { namespace, subresource: 'status', as: 'merge' } as const;
  await lab.api.patch(persistentVolumeClaimKind, name, status, place);
}

const disk = (name: string, more: Partial<PersistentVolumeSpec['csi']> = {}) => ({
  csi: { driver: driverName, volumeHandle: name, fsType: 'ext4', ...more },
});

const ofThisNode = () => ({
  required: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [lab.name] }] },
    ],
  },
});

const untilTold = `trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`;

/** Writes a line into its volume, and runs until it is told to end. */
function writer(claim: string, more: Partial<PodSpec> = {}, rest = untilTold): PodSpec {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const text = `echo from-$HOSTNAME >> /data/notes; ${rest}`;
  return {
    containers: [script('main', text, { volumeMounts })],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
    ...more,
  };
}

const ready = async (pod: Pod) =>
  (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;

async function end(pod: Pod): Promise<void> {
  await lab.delete(pod.metadata?.name ?? '');
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
}

/** Says that a volume has grown, as the controllers of a cluster do: the node's part is to come. */
async function grow(name: string, from: string, to: string): Promise<void> {
  await lab.api.patch(persistentVolumeKind, name, { spec: { capacity: { storage: to } } }, { as: 'merge' });
  const status = {
    capacity: { storage: from },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
  };
  const place = { namespace, subresource: 'status', as: 'merge' } as const;
  await lab.api.patch(persistentVolumeClaimKind, name, { status }, place);
}

/** What a claim says of its size, and of how far its expansion is. */
async function sizeOf(name: string): Promise<string> {
  const { status } = await lab.api.get(persistentVolumeClaimKind, name, { namespace });
  const conditions = (status?.conditions ?? []).map(({ type }) => type);
  const expansion = status?.allocatedResourceStatuses?.['storage'] ?? 'done';
  return [status?.capacity?.['storage'], expansion, ...conditions].join(' ');
}

/** The messages of the Events of that reason about the pod or claim. */
async function told(reason: string, name: string): Promise<string[]> {
  const { items } = await lab.api.list(eventKind, { namespace });
  return items
    .filter((event) => event.reason === reason && event.involvedObject.name === name)
    .map(({ message = '' }) => message);
}

/** Paths below the root folder at which something of a volume is mounted. */
async function mounted(): Promise<string[]> {
  const { stdout } = await lab.node.run('cat', ['/proc/self/mountinfo']);
  const paths = stdout.split('\n').map((line) => line.split(' ')[4] ?? '');
  return paths.filter((path) => path.startsWith(lab.rootDir) && /kubernetes\.io[~/](csi|local)/.test(path));
}

const calls = () =>
  driver
    .events()
    .flatMap(({ event, volumeId }) => (volumeId === undefined ? [] : [`${event.slice(4, -6)} ${volumeId}`]));
const eventsOf = (method: string) => driver.events().filter(({ event }) => event === method);

/** Waits until the agent says that of the pod. */
async function explained(pod: string, text: string): Promise<void> {
  await waitFor(`the explanation: ${text}`, async () => {
    const path = `/api/v1/nodes/lab/proxy/pods/explain/default/${pod}`;
    const { stdout } = await lab.kubectl.run(['get', '--raw', path]);
    return stdout.includes(text);
  });
}

const inUse = async () => (await lab.api.get(nodeKind, lab.name)).status?.volumesInUse ?? [];

describe('storage that outlives pods', () => {
  test('waits for what others do, and says so; is shared, kept over kill -9, and given back after the last pod', async () => {
    const nodeStageSecretRef = { namespace, name: 'disk-key' };
    await bind('one', disk('one', { nodeStageSecretRef }));
    const first = await lab.run('first', writer('one'));
    const attachment = attachmentName('one', driverName, lab.name);
    await explained('first', `there is no VolumeAttachment ${attachment}`);
    const source = { persistentVolumeName: 'one' };
    await lab.api.create(volumeAttachmentKind, {
      metadata: { name: attachment },
      spec: { attacher: driverName, nodeName: lab.name, source },
    });
    const attached = { status: { attached: true } };
    await lab.api.patch(volumeAttachmentKind, attachment, attached, { subresource: 'status', as: 'merge' });
    const missing = 'kubernetes.io/csi: failed to find the secret disk-key in the namespace default';
    await explained('first', `fetching NodeStageSecretRef default/disk-key failed: ${missing}`);
    const data = { key: Buffer.from('open').toString('base64') };
    await lab.api.create(secretKind, { metadata: { name: 'disk-key', namespace }, data });
    await ready(first);
    const said = (count: number) => waitFor('the driver to tell', () => calls().length >= count);
    await said(2);
    assert.deepEqual(eventsOf('NodeStageVolume').at(-1)?.['secrets'], { key: 'open' });
    assert.deepEqual(await inUse(), [`kubernetes.io/csi/${driverName}^one`]);
    const second = await ready(await lab.run('second', writer('one')));
    await said(3);
    assert.deepEqual(calls(), ['Stage one', 'Publish one', 'Publish one']);
    assert.equal((await mounted()).length, 3);

    await lab.restartAgent('kill9');
    await end(first);
    assert.equal((await mounted()).length, 2);
    await end(second);
    await waitFor('everything to be unmounted', async () => (await mounted()).length === 0);
    await waitFor('the end of its use', async () => (await inUse()).length === 0);
    await said(6);
    assert.deepEqual(calls().slice(3), ['Unpublish one', 'Unpublish one', 'Unstage one']);
    assert.equal(await readFile(join(home, 'one', 'notes'), 'utf8'), 'from-first\nfrom-second\n');
  });

  test('has tokens of its pod, published again and again, new ones too; is given back after a force-deletion', async () => {
    await bind('two', disk('two'));
    const audience = 'vault';
    await lab.api.create(csiDriverKind, {
      metadata: { name: driverName },
      spec: {
        attachRequired: false,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        podInfoOnMount: true,
        requiresRepublish: true,
        tokenRequests: [{ audience, expirationSeconds: 600 }],
      },
    });
    const look = `while :; do cmp -s /data/tokens /old || { cp /data/tokens /old; echo token >> /data/notes; }; sleep 0.2; done`;
    const pod = await ready(await lab.run('forced', writer('two', {}, look)));
    const given = async () =>
      Object(JSON.parse(await readFile(join(home, 'two', 'tokens'), 'utf8')))[audience];
    const { token } = await given();
    const said = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    assert.deepEqual([said.aud, said['kubernetes.io'].pod.uid], [[audience], uidOf(pod)]);
    const published = () => eventsOf('NodePublishVolume').filter(({ volumeId }) => volumeId === 'two').length;
    await waitFor('it to be published again', () => published() > 2);
    assert.equal((await given()).token, token, 'it is good for a while yet');
    const [before, notes] = ['from-forced\ntoken\n', 'from-forced\ntoken\ntoken\n'];
    const read = () => readFile(join(home, 'two', 'notes'), 'utf8');
    await waitFor('the container to see it', async () => (await read()) === before);
    await lab.restartAgent('kill9'); // which forgets its tokens
    await waitFor('a new token', async () => (await given()).token !== token);
    await waitFor('the container to see that', async () => (await read()) === notes);
    await lab.delete('forced', 0);
    await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
    await waitFor('everything to be unmounted', async () => (await mounted()).length === 0);
    assert.equal(await read(), notes);
  });

  test('is a volume that its driver makes for one pod, and knows of that', async () => {
    const volumes = [{ name: 'data', csi: { driver: driverName, volumeAttributes: { size: 'small' } } }];
    const pod = await ready(await lab.run('inline', writer('', { volumes })));
    const asked = driver.events().findLast(({ event }) => event === 'NodePublishVolume');
    const context = Object(asked?.['volumeContext']);
    assert.equal(context['size'], 'small');
    assert.equal(context['csi.storage.k8s.io/pod.uid'], uidOf(pod));
    assert.equal(context['csi.storage.k8s.io/ephemeral'], 'true');
    await end(pod);
    assert.equal((await mounted()).length, 0);
  });

  test('grows while a container has it, and again after its driver was killed in the middle of that', async () => {
    await bind('grows', disk('grows'));
    const look = `until grep -qx 3221225472 /data/size; do sleep 0.1; done; echo three; ${untilTold}`;
    const pod = await ready(await lab.run('growing', writer('grows', {}, look)));
    await grow('grows', '1Gi', '2Gi');
    await waitFor('the claim to say it', async () => (await sizeOf('grows')) === '2Gi done');
    const done = `MountVolume.NodeExpandVolume succeeded for volume "grows" ${lab.name}`;
    for (const name of ['growing', 'grows'])
      await waitFor(`the Event of ${name}`, async () =>
        (await told('FileSystemResizeSuccessful', name)).includes(done),
      );

    const figure = 'kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="grows"} 600\n';
    await waitFor('what its driver says of its usage', async () => {
      const path = `/api/v1/nodes/${lab.name}/proxy/metrics`;
      return (await lab.kubectl.run(['get', '--raw', path])).stdout.includes(figure);
    });

    await writeFileAtomic(join(home, 'answers'), JSON.stringify({ NodeExpandVolume: 'hang' })); // read at each call
    await grow('grows', '2Gi', '3Gi');
    await waitFor('it to be asked', () =>
      eventsOf('NodeExpandVolume').some(({ size }) => size === '3221225472'),
    );
    await driver.kill9();
    const failed = 'NodeExpandVolume.NodeExpandVolume failed for volume "data" : ';
    await waitFor('the Event', async () =>
      (await told('VolumeResizeFailed', 'growing')).some((message) => message.startsWith(failed)),
    );
    assert.equal(await sizeOf('grows'), '2Gi NodeResizeInProgress FileSystemResizePending');
    await rm(join(home, 'answers'));
    await startDriver();
    await waitFor('the claim to say it', async () => (await sizeOf('grows')) === '3Gi done');
    await waitFor('the container to see it', async () => (await logOf(lab, pod)).includes('three'));
    await end(pod);
    assert.deepEqual(await mounted(), []);
  });

  test('is made for one pod by the cluster, and bound by its controllers', async () => {
    const volumeClaimTemplate = {
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        resources: { requests: { storage: '1Gi' } },
      },
    };
    const volumes = [{ name: 'data', ephemeral: { volumeClaimTemplate } }];
    const pod = await lab.run('owner', writer('', { volumes }));
    const claim = await waitFor(
      'its claim',
      async () => await ifFound(lab.api.get(persistentVolumeClaimKind, 'owner-data', { namespace })),
    );
    await provide(claim, 'three', disk('three'));
    await ready(pod);
    await end(pod);
    assert.equal(await readFile(join(home, 'three', 'notes'), 'utf8'), 'from-owner\n');
  });

  test('is a block device of a driver, or of the node', async () => {
    await using disks = new AsyncDisposableStack();
    const own = disks.use(await loopDevice(join(home, 'own.img')));
    const other = disks.use(await loopDevice(join(home, 'other.img')));
    await writeFile(own.file, 'of the node\n', { flag: 'r+' });
    await mkdir(join(home, 'four'));
    await writeFile(join(home, 'four', 'device'), other.path);
    await bind('own', { local: { path: own.path }, volumeMode: 'Block', nodeAffinity: ofThisNode() });
    await bind('four', { ...disk('four'), volumeMode: 'Block' });
    const text = `head -c 12 /dev/own > /dev/four && ! echo no > /dev/own && sync && head -c 12 /dev/four && ${untilTold}`;
    const volumeDevices = [
      { name: 'own', devicePath: '/dev/own' },
      { name: 'four', devicePath: '/dev/four' },
    ];
    const pod = await lab.run('devices', {
      containers: [script('main', text, { volumeDevices })],
      volumes: [
        { name: 'own', persistentVolumeClaim: { claimName: 'own', readOnly: true } },
        { name: 'four', persistentVolumeClaim: { claimName: 'four' } },
      ],
    });
    await ready(pod);
    await waitFor('it to be read and written', async () => (await logOf(lab, pod)).includes('of the node'));
    await end(pod);
    assert.equal((await readFile(other.file)).toString('utf8', 0, 12), 'of the node\n');
    assert.deepEqual(await mounted(), []);
    for (const device of [own, other]) await device.detached();
  });

  test('is a folder of the node', async () => {
    const path = join(home, 'local');
    await mkdir(path);
    await writeFile(join(path, 'notes'), 'before\n');
    await bind('local', { local: { path }, nodeAffinity: ofThisNode() });
    const pod = await ready(await lab.run('local', writer('local')));
    await end(pod);
    assert.equal(await readFile(join(path, 'notes'), 'utf8'), 'before\nfrom-local\n');
    assert.deepEqual(await readdir(join(lab.rootDir, 'pods')), []);
  });
});
