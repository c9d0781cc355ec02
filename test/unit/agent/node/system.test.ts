import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import {
  createAddressReader,
  findDefaultInterface4,
  findDefaultInterface6,
  findNodeIpsFault,
  listNodeAddresses,
} from '../../../../src/agent/node/addresses.ts';
import type { StatFs } from '../../../../src/agent/node/measure.ts';
import { createMeasure } from '../../../../src/agent/node/measure.ts';
import type { Survey } from '../../../../src/agent/node/system-facts.ts';
import { collectFacts } from '../../../../src/agent/node/system-facts.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordingLog } from './samples.ts';

const never = new AbortController().signal;

async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(`${root}/${name}`), { recursive: true });
    await writeFile(`${root}/${name}`, content);
  }
}

const machine = {
  'etc/machine-id': '3d1219c7c4c5404aaa1f6d2a48adfda4\n',
  'etc/os-release': 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
  'proc/sys/kernel/random/boot_id': 'e833fc67-d6ee-4097-998e-d19f6469f3bb\n',
};

describe('facts', () => {
  const collect = (rootDir: string, survey = unwanted) =>
    collectFacts({ clock: systemClock, log: silentLogger(), signal: never, rootDir, survey });
  const unwanted = async (): Promise<Survey> => {
    throw new Error('not needed');
  };

  test('come from the files alone where these say all', async () => {
    await using folder = await temporaryFolder();
    const uuid = '4C4C4544-0051-3010-8052-B4C04F4E4D31\n';
    await write(folder.path, { ...machine, 'sys/class/dmi/id/product_uuid': uuid });
    const facts = await collect(folder.path);
    assert.equal(facts.machineID, '3d1219c7c4c5404aaa1f6d2a48adfda4');
    assert.equal(facts.systemUUID, '4c4c4544-0051-3010-8052-b4c04f4e4d31');
    assert.equal(facts.bootID, 'e833fc67-d6ee-4097-998e-d19f6469f3bb');
    assert.equal(facts.osImage, 'Debian GNU/Linux 12 (bookworm)');
    assert.equal(facts.operatingSystem, 'linux');
    assert.match(facts.architecture, /^[a-z0-9]+$/);
    assert.notEqual(facts.architecture, 'x64');
  });

  test('a machine without firmware is known by its machine id', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, machine);
    assert.equal((await collect(folder.path)).systemUUID, '3d1219c7c4c5404aaa1f6d2a48adfda4');
  });

  test('firmware that says only zeros gives way to a wider search', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, {
      ...machine,
      'sys/class/dmi/id/product_uuid': '00000000-0000-0000-0000-000000000000',
      'sys/class/dmi/id/modalias': 'dmi:bvnACME',
    });
    const found = { systemUUID: '11111111-2222-3333-4444-555555555555', machineID: '', osImage: '' };
    assert.equal((await collect(folder.path, async () => found)).systemUUID, found.systemUUID);
  });

  test('an empty container, an image before its first boot and a failing search still give facts', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'etc/machine-id': 'uninitialized\n', 'etc/os-release': '' });
    const { log, lines } = recordingLog();
    const survey = () => Promise.reject(new Error('no shell here'));
    const facts = await collectFacts({
      clock: systemClock,
      log,
      signal: never,
      rootDir: folder.path,
      survey,
    });
    assert.deepEqual([facts.machineID, facts.systemUUID, facts.bootID], ['', '', '']);
    assert.equal(facts.osImage, 'Linux');
    assert.match(lines.join(), /no shell here/);
  });

  test('a search that never ends is given up', async () => {
    await using folder = await temporaryFolder();
    const clock = createManualClock();
    const survey = () => new Promise<never>(() => undefined);
    const asked = collectFacts({ clock, log: silentLogger(), signal: never, rootDir: folder.path, survey });
    let done = false;
    void asked.then(() => {
      done = true;
    });
    while (clock.sleepers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advanceUntil(() => done, 3000);
    assert.equal((await asked).osImage, 'Linux');
  });

  test('an image without os-release is named by the library', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'sys/class/dmi/id/modalias': 'dmi:bvnACME' });
    const { log, lines } = recordingLog();
    const { path: rootDir } = folder;
    const clock = createManualClock(); // stands still: however long the library takes
    const { osImage } = await collectFacts({ clock, log, signal: never, rootDir });
    assert.notEqual(osImage, '');
    assert.deepEqual(lines, []);
  });

  test('are collected from the machine that runs this', async () => {
    const facts = await collectFacts({ clock: systemClock, log: silentLogger(), signal: never });
    assert.notEqual(facts.bootID, '');
    assert.notEqual(facts.kernelVersion, '');
    assert.notEqual(facts.osImage, '');
  });
});

describe('measurements', () => {
  const files = {
    'sys/devices/system/cpu/online': '0-2,6\n',
    'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '8\n',
    'sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0\n',
    'proc/meminfo': 'MemTotal:       24684084 kB\nMemFree:  100 kB\nMemAvailable:   23584808 kB\n',
    'proc/loadavg': '0.10 0.20 0.30 2/345 6789\n',
    'proc/sys/kernel/pid_max': '4194304\n',
    'proc/sys/kernel/threads-max': '192000\n',
  };
  const answer: StatFs = { bsize: 4096, blocks: 1000, bavail: 400, files: 50, ffree: 40 };

  test('are read from the kernel', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, files);
    const measure = createMeasure({
      rootDir: '/x',
      clock: systemClock,
      log: silentLogger(),
      procDir: `${folder.path}/proc`,
      sysDir: `${folder.path}/sys`,
      statfs: async () => answer,
    });
    const { disk, ...others } = await measure(never);
    assert.ok(disk !== undefined && disk.askedMs <= systemClock.monotonicMs());
    assert.deepEqual(disk, {
      ...{ capacityBytes: 4_096_000, availableBytes: 1_638_400, inodes: 50, inodesFree: 40 },
      askedMs: disk.askedMs,
    });
    assert.deepEqual(others, {
      cpus: 4,
      memory: { capacityBytes: 24_684_084 * 1024, availableBytes: 23_584_808 * 1024 },
      swapBytes: 0,
      imageDisk: undefined,
      containerDisk: undefined,
      pids: { limit: 192_000, used: 345 },
      hugePages: [
        { pageBytes: 1024 ** 3, totalBytes: 0 },
        { pageBytes: 2 * 1024 ** 2, totalBytes: 16 * 1024 ** 2 },
      ],
    });
  });

  test('leave out what the system does not tell', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'proc/meminfo': 'garbage\0\n', 'proc/loadavg': '\n' });
    const measure = createMeasure({
      rootDir: `${folder.path}/missing`,
      clock: systemClock,
      log: silentLogger(),
      procDir: `${folder.path}/proc`,
      sysDir: `${folder.path}/sys`,
    });
    const { cpus, ...rest } = await measure(never);
    assert.ok(cpus >= 1);
    const unknown = { memory: undefined, disk: undefined, imageDisk: undefined, containerDisk: undefined };
    assert.deepEqual(rest, { ...unknown, swapBytes: 0, pids: undefined, hugePages: [] });
  });

  test('a hung mount delays them by two seconds, is asked once, complained of once, and known again later', async () => {
    const clock = createManualClock();
    const { log, lines } = recordingLog();
    const asked: PromiseWithResolvers<StatFs>[] = [];
    const statfs = () => {
      const question = Promise.withResolvers<StatFs>();
      asked.push(question);
      return question.promise;
    };
    const measure = createMeasure({ rootDir: '/hung', clock, log, statfs });
    const round = async () => {
      let done = false;
      const result = measure(never).finally(() => {
        done = true;
      });
      await clock.advanceUntil(() => done, 2000);
      return (await result).disk;
    };
    assert.equal(await round(), undefined);
    assert.equal(await round(), undefined);
    assert.equal(asked.length, 1);
    asked[0]?.resolve(answer);
    const first = await round();
    assert.equal(first?.capacityBytes, 4_096_000);
    assert.deepEqual(await round(), first, 'what is known carries when it was asked for');
    assert.equal(asked.length, 2, 'the next question was asked');
    assert.equal(lines.length, 2, lines.join('\n'));
  });
});

describe('addresses', () => {
  const route4 =
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n' +
    'eth1\t00000000\t010200C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n' +
    'eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n' +
    'eth2\t00000000\t00000000\t0200\t0\t0\t0\t00000000\t0\t0\t0\n' +
    'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n';
  const zero = '0'.repeat(32);
  const route6 =
    `${zero} 00 ${zero} 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n` +
    `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo\n`;
  const inet6 =
    'fe800000000000000000000000000001 02 40 20 80     eth0\n' +
    'fd00000000000000000000000000abcd 02 40 00 01     eth0\n' +
    'fd000000000000000000000000000010 02 40 00 80     eth0\n';
  const entry = (address: string, internal = false) => ({
    address,
    internal,
    family: 'IPv4' as const,
    netmask: '255.255.255.0',
    mac: '02:00:00:00:00:01',
    cidr: null,
  });

  test('are those of the interface with the default route, IPv4 first, lasting IPv6 only', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'net/route': route4, 'net/ipv6_route': route6, 'net/if_inet6': inet6 });
    const interfaces = () => ({
      lo: [entry('127.0.0.1', true)],
      eth1: [entry('198.51.100.7')],
      eth0: [entry('169.254.3.4'), entry('192.0.2.10')],
    });
    assert.deepEqual(listNodeAddresses({ hostname: 'node-a', procDir: folder.path, interfaces }), [
      { type: 'InternalIP', address: '192.0.2.10' },
      { type: 'InternalIP', address: 'fd00::10' },
      { type: 'Hostname', address: 'node-a' },
    ]);
  });

  test('are those that are given, the external ones besides; a family may be put first', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'net/route': route4, 'net/ipv6_route': route6, 'net/if_inet6': inet6 });
    const options = {
      hostname: 'h',
      procDir: folder.path,
      interfaces: () => ({ eth0: [entry('192.0.2.10')] }),
    };
    const shown = (nodeIps: string[], externalIps: string[] = []) =>
      listNodeAddresses({ ...options, nodeIps, externalIps }).map(
        ({ type, address }) => `${type} ${address}`,
      );
    assert.deepEqual(shown(['fd00::7', '10.0.0.7'], ['203.0.113.5']), [
      'InternalIP fd00::7',
      'InternalIP 10.0.0.7',
      'ExternalIP 203.0.113.5',
      'Hostname h',
    ]);
    assert.deepEqual(shown(['10.0.0.7']), ['InternalIP 10.0.0.7', 'Hostname h']);
    assert.deepEqual(shown(['::']).slice(0, 2), ['InternalIP fd00::10', 'InternalIP 192.0.2.10']);
    assert.deepEqual(shown(['0.0.0.0']).slice(0, 2), ['InternalIP 192.0.2.10', 'InternalIP fd00::10']);
  });

  test('that nobody else could use, or too many of them, are refused', () => {
    const cases: [string[], RegExp | undefined][] = [
      [['192.0.2.1'], undefined],
      [['192.0.2.1', 'fd00::1'], undefined],
      [['::'], undefined],
      [['192.0.2.1', '192.0.2.2'], /one address, or one of each family/],
      [['192.0.2.1', 'fd00::1', 'fd00::2'], /one of each family/],
      [['0.0.0.0', 'fd00::1'], /0\.0\.0\.0 must stand alone/],
      [['127.0.0.1'], /127\.0\.0\.1 leads to no other machine/],
      [['fe80::1'], /fe80::1 leads to no other machine/],
      [['224.0.0.1'], /leads to no other machine/],
      [['node-a'], /node-a is no IP address/],
    ];
    for (const [given, expected] of cases) assert.match(findNodeIpsFault(given) ?? '', expected ?? /^$/);
  });

  test('without a default route, of the first interface that is no loopback', () => {
    const interfaces = () => ({ lo: [entry('127.0.0.1', true)], br0: [entry('10.0.0.3')] });
    assert.deepEqual(listNodeAddresses({ hostname: 'h', procDir: '/missing', interfaces }), [
      { type: 'InternalIP', address: '10.0.0.3' },
      { type: 'Hostname', address: 'h' },
    ]);
  });

  test('a reader asks the kernel again after five seconds', async () => {
    const clock = createManualClock();
    let now = '10.0.0.3';
    const interfaces = () => ({ br0: [entry(now)] });
    const read = createAddressReader({ hostname: 'h', procDir: '/missing', interfaces }, clock);
    assert.equal(read()[0]?.address, '10.0.0.3');
    now = '10.0.0.4';
    await clock.advance(5000);
    assert.equal(read()[0]?.address, '10.0.0.3');
    await clock.advance(1);
    assert.equal(read()[0]?.address, '10.0.0.4');
  });

  test('without any network, the loopback', () => {
    const [first] = listNodeAddresses({ hostname: 'h', procDir: '/missing', interfaces: () => ({}) });
    assert.deepEqual(first, { type: 'InternalIP', address: '127.0.0.1' });
  });

  test('a default route that rejects, is down or is garbage does not count', () => {
    assert.equal(findDefaultInterface4(route4), 'eth0');
    assert.equal(findDefaultInterface4('eth2\t00000000\t0\t0200\t0\t0\t0\t00000000'), undefined);
    assert.equal(findDefaultInterface4('\0 nonsense\n\n'), undefined);
    assert.equal(findDefaultInterface6(route6), 'eth0');
    assert.equal(findDefaultInterface6('x\ny z'), undefined);
  });
});

test('a file of the kernel may be a link, and a folder is none', async () => {
  await using folder = await temporaryFolder();
  await write(folder.path, { 'proc/real': '12\n' });
  await symlink('real', `${folder.path}/proc/link`);
  const { readKernelFile, readKernelNumber } = await import('../../../../src/base/kernel-file.ts');
  assert.equal(readKernelNumber(`${folder.path}/proc/link`), 12);
  assert.equal(readKernelFile(`${folder.path}/proc`), undefined);
});
