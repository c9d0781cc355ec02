import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ContainerInput } from '../../../../src/agent/containers/index.ts';
import {
  ContainerConfigError,
  containerConfig,
  containerHash,
  readThermalPaths,
} from '../../../../src/agent/containers/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import type { ContainerSpec } from './sample.ts';
import { containerInput, samplePod } from './sample.ts';

function configOf(container: Partial<ContainerSpec>, changes: Partial<ContainerInput> = {}) {
  return containerConfig(containerInput(samplePod({}, container), changes));
}

const noDevices = { devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] };

describe('the command of a container', () => {
  const environment = [
    { name: 'A', value: 'own' },
    { name: 'B', value: '' },
  ];
  const devices = {
    ...noDevices,
    environment: [
      { name: 'A', value: 'device' },
      { name: 'D', value: 'gpu' },
    ],
  };

  test('refers to its environment, in which its own values go before those of devices', () => {
    const config = configOf(
      { command: ['$(A)', '$(D)'], args: ['$(B)', '$(C)', '$$(A)'] },
      { environment, devices },
    );
    assert.deepEqual(config.command, ['own', 'gpu']);
    assert.deepEqual(config.args, ['', '$(C)', '$(A)']);
    assert.deepEqual(
      config.envs?.map(({ key, value = new Uint8Array() }) => `${key}=${Buffer.from(value)}`),
      ['A=device', 'D=gpu', 'A=own', 'B='],
    );
  });

  test('runs where and as interactively as the spec says', () => {
    const config = configOf({ workingDir: '/srv', stdin: true, stdinOnce: true, tty: true });
    assert.deepEqual(
      [config.workingDir, config.stdin, config.stdinOnce, config.tty],
      ['/srv', true, true, true],
    );
  });
});

describe('the stop signal', () => {
  const cases: [name: string, number: number][] = [
    ['SIGABRT', 1],
    ['SIGINT', 10],
    ['SIGKILL', 13],
    ['SIGQUIT', 18],
    ['SIGTERM', 23],
    ['SIGUSR1', 29],
    ['SIGWINCH', 32],
    ['SIGRTMIN', 35],
    ['SIGRTMIN+1', 36],
    ['SIGRTMIN+15', 50],
    ['SIGRTMAX-14', 51],
    ['SIGRTMAX', 65],
  ];
  for (const [stopSignal, number] of cases) {
    test(stopSignal, () => assert.equal(configOf({ lifecycle: { stopSignal } }).stopSignal, number));
  }
  for (const stopSignal of ['TERM', 'sigterm', 'SIGNONE', 'SIG', '15']) {
    test(`${stopSignal} is refused`, () => {
      assert.throws(() => configOf({ lifecycle: { stopSignal } }), ContainerConfigError);
    });
  }
});

describe('mounts', () => {
  const volume = {
    containerPath: '/data',
    hostPath: '/pods/v',
    isReadOnly: false,
    isRecursiveReadOnly: false,
    propagation: 'None' as const,
  };
  const pathsOf = (changes: Partial<ContainerInput>, container: Partial<ContainerSpec> = {}) =>
    configOf(container, changes).mounts?.map(({ containerPath, hostPath }) => `${containerPath}<${hostPath}`);

  test('of devices, of volumes, and the files of the pod, in this order', () => {
    const devices = {
      ...noDevices,
      mounts: [{ containerPath: '/lib/gpu', hostPath: '/opt/gpu', isReadOnly: true }],
    };
    const changes = {
      mounts: [volume, { ...volume, containerPath: 'relative' }],
      devices,
      hostsFile: '/h',
      messageFile: '/m',
    };
    assert.deepEqual(pathsOf(changes), [
      '/lib/gpu</opt/gpu',
      '/data</pods/v',
      '/relative</pods/v',
      '/etc/hosts</h',
      '/dev/termination-log</m',
    ]);
    assert.equal(configOf({}, changes).mounts?.[0]?.readonly, true);
  });

  for (const containerPath of ['/etc/hosts', '/etc/hosts/', '//etc/./hosts', 'etc/hosts']) {
    test(`no hosts file where the container has ${containerPath} itself`, () => {
      const found = pathsOf({ mounts: [{ ...volume, containerPath }], hostsFile: '/h' });
      assert.equal(
        found?.some((each) => each.endsWith('</h')),
        false,
      );
    });
  }

  test('a file for the last message where the container wants it', () => {
    assert.deepEqual(pathsOf({ messageFile: '/m' }, { terminationMessagePath: '/var/msg' }), ['/var/msg</m']);
  });

  test('propagation, read-only in depth, images and ids', () => {
    const image = { id: 'sha256:2', subPath: 'bin' };
    const mounts = [
      { ...volume, propagation: 'HostToContainer' as const },
      { ...volume, propagation: 'Bidirectional' as const },
      { ...volume, isReadOnly: true, isRecursiveReadOnly: true },
      { ...volume, hostPath: '/unused', image },
    ];
    const userIds = { hostId: 65_536, length: 65_536 };
    const found = configOf({}, { mounts, userIds }).mounts ?? [];
    assert.deepEqual(
      found.map(({ propagation }) => propagation),
      [1, 2, 0, 0],
    );
    assert.deepEqual(
      found.map(({ readonly, recursiveReadOnly }) => [readonly, recursiveReadOnly]),
      [
        [false, false],
        [false, false],
        [true, true],
        [false, false],
      ],
    );
    assert.deepEqual(
      [found[3]?.image, found[3]?.imageSubPath, found[3]?.hostPath],
      [{ image: 'sha256:2' }, 'bin', ''],
    );
    const mapping = { hostId: 65_536, containerId: 0, length: 65_536 };
    assert.deepEqual([found[0]?.uidMappings, found[0]?.gidMappings], [[mapping], [mapping]]);
  });

  test('devices are given as they are', () => {
    const device = { containerPath: '/dev/gpu', hostPath: '/dev/gpu0', permissions: 'rw' };
    const config = configOf(
      {},
      { devices: { ...noDevices, devices: [device], cdiDevices: ['vendor/gpu=0'] } },
    );
    assert.deepEqual(config.devices, [device]);
    assert.deepEqual(config.cdiDevices, [{ name: 'vendor/gpu=0' }]);
  });
});

describe('what is written on a container', () => {
  test('the hash is of name and image alone', () => {
    assert.equal(containerHash({ name: 'c', image: 'localhost/lab/busybox:1' }), 'aa834e24');
    const same = { name: 'c', image: 'localhost/lab/busybox:1', command: ['x'], env: [{ name: 'A' }] };
    assert.equal(containerHash(same), 'aa834e24');
    assert.notEqual(containerHash({ name: 'd', image: 'localhost/lab/busybox:1' }), 'aa834e24');
  });

  test('annotations of devices do not replace those of the agent', () => {
    const annotations = { 'vendor/x': '1', 'io.kubernetes.container.restartCount': '99' };
    const config = configOf({}, { restartCount: 4, devices: { ...noDevices, annotations } });
    assert.equal(config.annotations?.['vendor/x'], '1');
    assert.equal(config.annotations?.['io.kubernetes.container.restartCount'], '4');
  });

  test('ports, the hook before the stop, and both graces', () => {
    const container = {
      ports: [
        { name: 'http', containerPort: 80, protocol: 'TCP' },
        { containerPort: 9, hostPort: 0 },
      ],
      lifecycle: { preStop: { exec: { command: ['sh', '-c', 'sleep 1'] } } },
      terminationMessagePath: '/msg',
      terminationMessagePolicy: 'FallbackToLogsOnError',
    };
    const pod = samplePod({ terminationGracePeriodSeconds: 0 }, container);
    pod.metadata = { ...pod.metadata, deletionGracePeriodSeconds: 5, labels: { app: 'web' } };
    const { annotations, labels } = containerConfig(containerInput(pod));
    assert.deepEqual(annotations, {
      'io.kubernetes.container.hash': 'aa834e24',
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/msg',
      'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
      'io.kubernetes.pod.deletionGracePeriod': '5',
      'io.kubernetes.pod.terminationGracePeriod': '0',
      'io.kubernetes.container.preStopHandler': '{"exec":{"command":["sh","-c","sleep 1"]}}',
      'io.kubernetes.container.ports':
        '[{"name":"http","containerPort":80,"protocol":"TCP"},{"containerPort":9}]',
    });
    assert.equal(labels?.['app'], undefined);
  });

  test('the log is named by the attempt', () => {
    assert.equal(configOf({}, { attempt: 12, restartCount: 9 }).logPath, 'c/12.log');
  });
});

test('a container that the pod does not have is an error of the caller', () => {
  assert.throws(() => configOf({}, { container: 'x' }), /^Error: the pod has no container "x"$/);
});

test('the counters of each cpu’s throttling are found', async () => {
  await using root = await temporaryFolder();
  const cpus = join(root.path, 'sys/devices/system/cpu');
  for (const each of ['cpu0/thermal_throttle', 'cpu1', 'cpufreq/thermal_throttle']) {
    await mkdir(join(cpus, each), { recursive: true });
  }
  assert.deepEqual(readThermalPaths(root.path), ['/sys/devices/system/cpu/cpu0/thermal_throttle']);
});
