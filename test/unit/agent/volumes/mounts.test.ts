import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findImageMountFault } from '../../../../src/agent/volumes/index.ts';
import { mountsIn, parseMountLine } from '../../../../src/agent/volumes/mount-table.ts';
import { expandSubPath } from '../../../../src/agent/volumes/sub-path-expr.ts';
import type { Mount } from './support.ts';
import { podId, podWith, stateOf, volumesWith } from './support.ts';

const volume = { name: 'v', hostPath: { path: '/x' } };

/** The mount as the runtime gets it, or the message. */
async function resolve(mount: Partial<Mount>, isSupported = true): Promise<object | string | undefined> {
  await using made = await volumesWith(undefined, { supportsRecursiveReadOnly: () => isSupported });
  const pod = podWith([volume], [{ name: 'v', mountPath: '/m', ...mount }]);
  await stateOf(made.volumes, pod);
  try {
    const [resolved] = await made.volumes.mountsOf(pod, 'main');
    return resolved;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
}

describe('how a container mounts a volume', () => {
  const plain = {
    containerPath: '/m',
    hostPath: '/x',
    isReadOnly: false,
    isRecursiveReadOnly: false,
    propagation: 'None',
  };
  const readOnly = { ...plain, isReadOnly: true };
  const failed = 'failed to resolve recursive read-only mode';
  const asked = `${failed}: volume "v" requested recursiveReadOnly mode, but it is not`;
  const cases: [what: string, mount: Partial<Mount>, isSupported: boolean, expected: object | string][] = [
    ['plainly', {}, true, plain],
    ['read-only', { readOnly: true }, true, readOnly],
    [
      'mounts of the node appear',
      { mountPropagation: 'HostToContainer' },
      true,
      { ...plain, propagation: 'HostToContainer' },
    ],
    [
      'its mounts appear',
      { mountPropagation: 'Bidirectional' },
      true,
      { ...plain, propagation: 'Bidirectional' },
    ],
    [
      'in a way that is not known',
      { mountPropagation: 'Both' },
      true,
      'invalid MountPropagation mode: "Both"',
    ],
    [
      'all below read-only',
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      true,
      { ...readOnly, isRecursiveReadOnly: true },
    ],
    [
      'which the runtime cannot',
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      false,
      `${asked} supported by the runtime`,
    ],
    [
      'if it can',
      { readOnly: true, recursiveReadOnly: 'IfPossible' },
      true,
      { ...readOnly, isRecursiveReadOnly: true },
    ],
    ['and it cannot', { readOnly: true, recursiveReadOnly: 'IfPossible' }, false, readOnly],
    ['not below', { readOnly: true, recursiveReadOnly: 'Disabled' }, true, readOnly],
    ['only below', { recursiveReadOnly: 'IfPossible' }, true, `${asked} read-only`],
    [
      'with propagation',
      { readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' },
      true,
      `${asked} compatible with propagation "HostToContainer"`,
    ],
    [
      'with none',
      { readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'None' },
      true,
      { ...readOnly, isRecursiveReadOnly: true },
    ],
    [
      'in a mode that is not known',
      { readOnly: true, recursiveReadOnly: 'Maybe' },
      true,
      `${failed}: unknown recursive read-only mode "Maybe"`,
    ],
    [
      'a part above it',
      { subPath: 'a/../../b' },
      true,
      "unable to provision SubPath `a/../../b`: must not contain '..'",
    ],
    ['a part from the root', { subPath: '/etc' }, true, 'error SubPath `/etc` must not be an absolute path'],
    ['a variable that is missing', { subPathExpr: '$(A)' }, true, 'missing value for A'],
    [
      'a volume that is not there',
      { name: 'w' },
      true,
      'cannot find volume "w" to mount into container "main"',
    ],
  ];
  for (const [what, mount, isSupported, expected] of cases)
    test(what, async () => assert.deepEqual(await resolve(mount, isSupported), expected));

  test('in the order of its mounts, for every list of containers', async () => {
    await using made = await volumesWith();
    const volumeMounts = ['/b', '/a'].map((mountPath) => ({ name: 'v', mountPath }));
    const of = (name: string) => [{ name, image: 'i', volumeMounts }];
    const pod = podWith([volume], [], { initContainers: of('init'), ephemeralContainers: of('debug') });
    await stateOf(made.volumes, pod);
    for (const name of ['init', 'debug']) {
      const mounts = await made.volumes.mountsOf(pod, name);
      assert.deepEqual(
        mounts.map(({ containerPath }) => containerPath),
        ['/b', '/a'],
      );
    }
    await assert.rejects(made.volumes.mountsOf(pod, 'none'), /the pod has no container "none"/);
  });
});

describe('an image as a volume', () => {
  const pod = podWith(
    [{ name: 'v', image: { reference: 'app:1' } }],
    [
      { name: 'v', mountPath: '/m' },
      { name: 'v', mountPath: '/n', subPath: 'etc/app' },
    ],
  );

  test('is mounted by the runtime, read-only', async () => {
    await using made = await volumesWith();
    assert.deepEqual(await stateOf(made.volumes, pod), { state: 'ready' });
    const mounts = await made.volumes.mountsOf(pod, 'main', [], new Map([['v', 'sha256:1']]));
    const common = { hostPath: '', isReadOnly: true, isRecursiveReadOnly: false, propagation: 'None' };
    assert.deepEqual(mounts, [
      { ...common, containerPath: '/m', image: { id: 'sha256:1', subPath: '' } },
      { ...common, containerPath: '/n', image: { id: 'sha256:1', subPath: 'etc/app' } },
    ]);
    await assert.rejects(made.volumes.mountsOf(pod, 'main'), /the image of volume "v" is not there yet/);
    assert.deepEqual(made.calls, []);
    await made.volumes.release(podId);
  });

  const whole = podWith([{ name: 'v', image: { reference: 'app:1' } }]);
  const cannot = 'MountVolume.SetUp failed for volume "v" : the container runtime containerd';
  const refused: [version: string, pod: typeof pod, message: string][] = [
    ['1.6.20', whole, `${cannot} 1.6.20 cannot mount images as volumes: containerd 2.1 and later can`],
    [
      '2.1.9',
      pod,
      `${cannot} 2.1.9 cannot mount parts of images (subPath) as volumes: containerd 2.2 and later can`,
    ],
  ];
  for (const [version, refusedPod, message] of refused)
    test(`is refused where containerd ${version} would not mount it`, async () => {
      const imageMountFault = (isInParts: boolean) => findImageMountFault('containerd', version, isInParts);
      await using made = await volumesWith(undefined, { imageMountFault });
      const state = await stateOf(made.volumes, refusedPod);
      assert.equal(state.state === 'waiting' && state.message, message);
    });

  const able: [name: string, version: string, isInParts: boolean][] = [
    ['containerd', '2.1.0', false],
    ['containerd', 'v2.10.1', true],
    ['containerd', '3.0', true],
    ['containerd', '', true],
    ['', '', true],
    ['cri-o', '1.31.0', false],
    ['cri-o', '1.33.0', true],
    ['other', '0.1.0', true],
  ];
  for (const [name, version, isInParts] of able)
    test(`is not refused for ${name} ${version}, ${isInParts ? 'a part' : 'whole'}`, () =>
      assert.equal(findImageMountFault(name, version, isInParts), undefined));

  test('is refused for others by their versions', () => {
    for (const [name, version, isInParts] of [
      ['containerd', '2.0.9', false],
      ['containerd', '1.7.99', true],
      ['cri-o', '1.30.4', false],
      ['cri-o', '1.32.4', true],
    ] as const)
      assert.notEqual(findImageMountFault(name, version, isInParts), undefined, `${name} ${version}`);
  });
});

test('variables in the path of a part', () => {
  const environment = [
    { name: 'A', value: 'one' },
    { name: 'B', value: '$(A)' },
    { name: 'A', value: 'two' },
    { name: 'E', value: '' },
  ];
  const expand = (text: string) => expandSubPath(text, environment);
  assert.equal(expand('$(A)/$(B)/x'), 'two/$(A)/x');
  assert.equal(expand('$$(A)/$x/$('), '$(A)/$x/$(');
  assert.throws(() => expand('$(C)$(A)$(B2)$(C)'), { message: 'missing value for B2, C' });
  assert.throws(() => expand('a$(E)'), { message: 'missing value for E' }, 'an empty one is none');
});

describe('the table of mounts', () => {
  const line = (id: number, path: string, type = 'tmpfs') =>
    `${id} 1 0:5 / ${path} rw,relatime shared:1 master:2 - ${type} source rw`;

  test('has names with blanks, and names that are not ASCII', () => {
    assert.deepEqual(parseMountLine(line(7, '/a\\040b\\134c/ü', 'ext4')), {
      id: 7,
      path: '/a b\\c/ü',
      type: 'ext4',
    });
    assert.deepEqual(parseMountLine('7 1 0:5 / /a rw - nfs4 - rw'), { id: 7, path: '/a', type: 'nfs4' });
    assert.equal(parseMountLine(''), undefined);
  });

  test('says in which order mounts can go: the deepest first, of two at a path the later', () => {
    const paths = ['/p', '/p/a', '/p/a/b', '/p/a', '/pp', '/q', '/p/c'];
    const table = paths.flatMap((path, id) => parseMountLine(line(id, path)) ?? []);
    assert.deepEqual(
      mountsIn('/p', table).map(({ id }) => id),
      [2, 6, 3, 1, 0],
    );
  });
});
