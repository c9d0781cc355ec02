import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { FlagValues } from '../../../../src/agent/config/index.ts';
import { ConfigError, loadConfig } from '../../../../src/agent/config/index.ts';
import { resolveGates } from '../../../../src/api/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';
import { defaultEviction } from '../node/samples.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
});
after(() => rm(folder, { recursive: true, force: true }));

let count = 0;
/** Writes files by their names in a folder of their own and gives that folder. */
async function files(contents: Record<string, string | Uint8Array>): Promise<string> {
  count += 1;
  const root = join(folder, String(count));
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

const load = (config: string | undefined, configDir?: string, flags: FlagValues = {}) =>
  loadConfig({ config, configDir, flags });

/** The problems of a main file, without its folder. */
async function problemsOf(text: string | Uint8Array, flags: FlagValues = {}): Promise<string[]> {
  const root = await files({ 'c.yaml': text });
  return failure(load(join(root, 'c.yaml'), undefined, flags), root);
}

async function failure(loading: Promise<unknown>, root: string): Promise<string[]> {
  const error = await loading.then(
    () => assert.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigError, String(error));
  assert.equal(error.exitCode, exitCodes.configuration);
  return error.message.replaceAll(`${root}/`, '').split('\n');
}

describe('loading the configuration', () => {
  test('without anything there are the defaults, frozen', async () => {
    const { config, warnings, origins } = await load(undefined);
    assert.deepEqual(config, {
      address: '0.0.0.0',
      port: 10250,
      containerRuntimeEndpoint: '',
      imageServiceEndpoint: '',
      logs: {
        folder: '/var/log/pods',
        maxBytes: 10 * 1024 * 1024,
        maxFiles: 5,
        workers: 1,
        intervalMs: 10_000,
      },
      runtimeRequestTimeoutMs: 120_000,
      nodeStatusUpdateFrequencyMs: 10_000,
      nodeStatusReportFrequencyMs: 300_000,
      nodeLeaseDurationSeconds: 40,
      nodeLeaseRenewIntervalMs: 10_000,
      maxPods: 110,
      shutdown: [
        { priority: 0, graceSeconds: 0 },
        { priority: 2_000_000_000, graceSeconds: 0 },
      ],
      featureGates: resolveGates({}),
      registerNode: true,
      registerWithTaints: [],
      providerID: '',
      eviction: defaultEviction,
      nodeStatusMaxImages: 50,
      reserved: { cpuMillis: 0, memoryBytes: 0, storageBytes: 0, pids: 0 },
      enforcement: { pods: true, groups: [] },
      server: {
        enabled: true,
        tls: { minVersion: 'TLSv1.2', ciphers: undefined },
        healthzPort: 0,
        healthzBindAddress: '127.0.0.1',
        streamIdleMs: 14_400_000,
        access: {
          tokens: true,
          tokenTtlMs: 120_000,
          anonymous: false,
          alwaysAllow: false,
          allowedTtlMs: 300_000,
          deniedTtlMs: 30_000,
        },
      },
      files: { tlsCertFile: '', tlsPrivateKeyFile: '', clientCAFile: '' },
      checkpoint: {
        maxConcurrent: 2,
        maxWaiting: 100,
        onConflict: 'Wait',
        diskReserve: { share: 0.05 },
        retention: {},
        encryption: { recipients: [], recipientsFile: '' },
      },
      seccompDefault: false,
      staticPods: { folder: '/etc/nodeward/manifests', isStated: false, rescanMs: 20_000 },
      pods: config.pods, // as in pod-fields.test.ts
      images: {
        pulls: { maxParallel: 1, ratePerSecond: 5, burst: 10 },
        access: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
        collection: { highPercent: 85, lowPercent: 80, minAgeMs: 120_000, maxAgeMs: 0 },
      },
      deviceManager: { kubeletPaths: false, kubeletDir: '/var/lib/kubelet', graceMs: 300_000 },
    });
    assert.ok(Object.isFrozen(config) && Object.isFrozen(config.featureGates));
    assert.deepEqual(warnings, []);
    assert.equal(origins.get('port'), 'default');
  });

  test('file, drop-ins and flags win in this order, and each value knows its origin', async () => {
    const root = await files({
      'c.yaml': `${head}port: 1000\naddress: 10.0.0.1\nmaxPods: 1\nnodeLeaseDurationSeconds: 20\n`,
      'd/10-a.conf': `${head}maxPods: 2\naddress: 10.0.0.2\n`,
      'd/20/x.conf': `${head}\n\nmaxPods: 3\n`,
      'd/30.conf': `${head}address: 10.0.0.3\n`,
      'd/40.yaml': 'not read',
    });
    const { config, origins } = await load(join(root, 'c.yaml'), join(root, 'd'), {
      address: '::1',
      port: '0',
    });
    assert.equal(config.maxPods, 3);
    assert.equal(config.address, '::1');
    assert.equal(config.port, 0);
    assert.equal(config.nodeLeaseRenewIntervalMs, 5_000);
    assert.equal(origins.get('maxPods'), `${join(root, 'd/20/x.conf')}:5`);
    assert.equal(origins.get('nodeLeaseDurationSeconds'), `${join(root, 'c.yaml')}:6`);
    assert.equal(origins.get('port'), 'flag --port');
    assert.equal(origins.get('registerNode'), 'default');
  });

  test('drop-ins are read in the order of a folder walk', async () => {
    const text = (n: number) => `${head}maxPods: ${n}\n`;
    const root = await files({
      'a.conf': text(1),
      'b/z.conf': text(2),
      'b.conf': text(3),
      'B/y.conf': text(4),
    });
    assert.equal((await load(undefined, root)).config.maxPods, 3, 'B, a.conf, b, b.conf');
    const nested = await files({ 'b/z.conf': text(2), 'a/z/z.conf': text(1) });
    await symlink(nested, join(root, 'link'));
    assert.equal((await load(undefined, join(root, 'link'))).config.maxPods, 2);
  });

  test('null deletes what was stated before, so that the default counts again', async () => {
    const root = await files({
      'c.yaml': `${head}port: 1000\nfeatureGates: {ContainerCheckpoint: false}\n`,
      'd/a.conf': `${head}port: null\nfeatureGates: {ContainerCheckpoint: ~}\n`,
    });
    const { config, origins } = await load(join(root, 'c.yaml'), join(root, 'd'));
    assert.equal(config.port, 10250);
    assert.equal(origins.get('port'), 'default');
    assert.equal(config.featureGates.ContainerCheckpoint, true);
  });

  test('feature gates of the command line are merged by name, groups give way to names', async () => {
    const root = await files({
      'c.yaml': `${head}featureGates: {ContainerCheckpoint: true, AllBeta: false}\n`,
    });
    const gate = async (flags: FlagValues) =>
      (await load(join(root, 'c.yaml'), undefined, flags)).config.featureGates.ContainerCheckpoint;
    assert.equal(await gate({}), true);
    assert.equal(await gate({ featureGates: 'AllAlpha=true' }), true);
    assert.equal(await gate({ featureGates: 'AllAlpha=1, ContainerCheckpoint=F' }), false);
    assert.equal(await gate({ featureGates: { ContainerCheckpoint: false } }), false);
    const { config } = await load(undefined, undefined, { featureGates: 'AllBeta=false' });
    assert.equal(config.featureGates.ContainerCheckpoint, false);
  });

  test('JSON, a byte order mark, anchors and merge keys work', async () => {
    const json = `\ufeff${JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 7 })}`;
    const yaml = `<<: &base {maxPods: 1, port: 0o0}\n${head}maxPods: 8\nregisterNode: off\n`;
    const root = await files({ 'c.json': json, 'c.yaml': yaml.replace(', port: 0o0', ', port: 9000') });
    assert.equal((await load(join(root, 'c.json'))).config.maxPods, 7);
    const { config } = await load(join(root, 'c.yaml'));
    assert.deepEqual([config.maxPods, config.port, config.registerNode], [8, 9000, false]);
  });

  test('zero means the default and is warned of, empty text too but silently', async () => {
    const root = await files({
      'c.yaml': `${head}port: 0\nruntimeRequestTimeout: 0s\naddress: ""\nregisterNode: false\n`,
    });
    const { config, warnings } = await load(join(root, 'c.yaml'));
    assert.deepEqual(
      [config.port, config.runtimeRequestTimeoutMs, config.address],
      [10250, 120_000, '0.0.0.0'],
    );
    assert.equal(config.registerNode, false);
    assert.deepEqual(warnings, [
      `${root}/c.yaml:3: port: zero means the default`,
      `${root}/c.yaml:4: runtimeRequestTimeout: zero means the default`,
    ]);
  });

  test('who sets only how often the status is computed has it sent as often', async () => {
    const root = await files({ 'c.yaml': `${head}nodeStatusUpdateFrequency: 1m30s\n` });
    assert.equal((await load(join(root, 'c.yaml'))).config.nodeStatusReportFrequencyMs, 90_000);
  });

  test('a runtime path without a scheme is taken with a warning', async () => {
    const { config, warnings } = await load(undefined, undefined, {
      containerRuntimeEndpoint: '/run/x.sock',
    });
    assert.equal(config.containerRuntimeEndpoint, 'unix:///run/x.sock');
    assert.match(warnings.join(), /deprecated; write unix:\/\/\/run\/x\.sock/);
  });
});

describe('problems of the configuration', () => {
  test('all are told at once, by file, line and column, flags last', async () => {
    const root = await files({
      'c.yaml': `${head}port: "80"\nadress: 1.2.3.4\nfeatureGates:\n  ContainerCheckpoint: maybe\n`,
      'd/a.conf': `kind: KubeletConfiguration\nmaxPods: -1\nmaxPods: 2\n`,
      'd/b.conf': 'a: [',
      'd/c.conf': '',
      'd/d.conf': `${head}featureGates: {Nope: true}\naddress: nowhere\n`,
    });
    const told = await failure(load(join(root, 'c.yaml'), join(root, 'd'), { port: 'x' }), root);
    assert.deepEqual(told, [
      'c.yaml:3:7: port: expected a 32-bit integer, found string "80"',
      'c.yaml:4:1: adress: unknown field',
      'c.yaml:6:24: featureGates.ContainerCheckpoint: expected true or false, found string "maybe"',
      'd/a.conf: apiVersion: must be stated; use kubelet.config.k8s.io/v1beta1',
      'd/a.conf:3:1: maxPods: stated twice, first in line 2',
      'd/b.conf:1:5: Flow sequence in block collection must be sufficiently indented and end with a ]',
      'd/c.conf: the file is empty; it must at least state apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration',
      'd/d.conf:3:16: featureGates.Nope: there is no feature gate "Nope"; there are APIListChunking, APIResponseCompression, AuthorizeWithSelectors, ContainerCheckpoint, DryRun, InPlacePodVerticalScaling, ResourceMetricsAPI, ServerSideFieldValidation, WatchList, AllAlpha, AllBeta',
      'd/d.conf:4:10: address: "nowhere" is not an IP address',
      '--port: "x" is not a port number',
    ]);
  });

  test('values that make no sense', async () => {
    const cases: Record<string, RegExp> = {
      'port: 65536': /^c\.yaml:3:7: port: must be from 0 to 65535, not 65536$/,
      'port: -1': /must be from 0/,
      'port: 1.5': /expected a 32-bit integer/,
      'port: 1:30': /expected a 32-bit integer, found string "1:30"/,
      'port: .inf': /Infinity has no meaning here/,
      'runtimeRequestTimeout: 5': /expected a duration such as 1m30s, found number 5/,
      'runtimeRequestTimeout: -1s': /must be from 1ms to 576h, not -1s/,
      'nodeStatusUpdateFrequency: 1ms': /must be from 100ms to 576h/,
      'nodeStatusReportFrequency: 1000h': /must be from 100ms to 576h/,
      'nodeLeaseDurationSeconds: 2147483647': /must be from 1 to 2073600/,
      'maxPods: [1]': /expected a 32-bit integer, found a list/,
      'address: 1.2.3': /"1\.2\.3" is not an IP address/,
      'address: 2020-01-01': /"2020-01-01" is not an IP address/,
      'containerRuntimeEndpoint: tcp://localhost:1': /use unix:\/\/\/absolute\/path/,
      'containerRuntimeEndpoint: unix://relative': /use unix:\/\/\/absolute\/path/,
      'featureGates: [a]': /featureGates: expected a map, found a list/,
      'featureGates: {"a.b[1]": 1}':
        /^c\.yaml:3:\d+: featureGates.*: expected true or false, found number 1$/,
      'registerNode: !!binary aGk=':
        /^c\.yaml:3:\d+: registerNode: a value of this sort has no meaning here$/,
      '1: 2': /^c\.yaml:3:1: 1: unknown field$/,
      '__proto__: {port: 1}': /^c\.yaml:3:1: __proto__: unknown field$/,
      '? [a]\n: b': /a key must be a word/,
      'port: *nothing': /nothing/,
      '<<: 5': /<< needs a map or a list of maps/,
      '---\nkind: Other': /document/,
    };
    for (const [line, expected] of Object.entries(cases)) {
      const told = await problemsOf(`${head}${line}\n`);
      assert.equal(told.length, 1, `${line}: ${told.join(' | ')}`);
      assert.match(told[0] ?? '', expected);
    }
  });

  test('what is no configuration at all', async () => {
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /the file is empty/],
      ['# nothing\n', /the file is empty/],
      ['---\n', /the file is empty/],
      ['hello', /expected fields/],
      ['[]', /expected fields/],
      [
        'apiVersion: v1\nkind: 5\n',
        /"v1" is not supported; use kubelet\.config\.k8s\.io\/v1beta1\n.*expected a string/,
      ],
      [new Uint8Array([0x61, 0x3a, 0x20, 0xff]), /it is not UTF-8 text/],
      [`a: "${'x'.repeat(1024 * 1024)}"`, /longer than 1048576 bytes/],
      ['\tport: 1', /^c\.yaml:1:\d+: /],
    ];
    for (const [text, expected] of cases) assert.match((await problemsOf(text)).join('\n'), expected);
  });

  test('bombs and depth end quickly', async () => {
    const layers = Array.from(
      { length: 20 },
      (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]`,
    );
    const cases: [string, RegExp][] = [
      [`a0: &a0 x\n${layers.join('\n')}`, /more than 50000 values|nested deeper/],
      ['a: &a [*a]', /nested deeper than 32/],
      ['a: &a {<<: *a}', /nested deeper than 32/],
      [`a: ${'['.repeat(100)}${']'.repeat(100)}`, /nested deeper than 32/],
      ['['.repeat(100_000), /nested too deeply|deeper/],
      ['- '.repeat(100_000), /nested too deeply|deeper/],
      ['{a: '.repeat(100_000), /nested too deeply|deeper/],
      [
        Array.from({ length: 49_000 }, (_, i) => `k${i}: 1`).join('\n'),
        /unknown field\n.*and \d+ more|unknown field/s,
      ],
    ];
    for (const [text, expected] of cases) {
      const before = process.cpuUsage();
      const told = await problemsOf(text);
      assert.match(told.join('\n'), expected);
      assert.ok(told.length <= 104, `${told.length} lines`);
      const { user, system } = process.cpuUsage(before); // work, not time: the machine may be busy with other things
      assert.ok(user + system < 10_000_000, `${user + system} µs for ${text.slice(0, 20)}…`);
    }
  });

  test('files and folders that cannot be read', async () => {
    const root = await files({ 'x.conf/inner': '', plain: '' });
    execFileSync('mkfifo', [join(root, 'pipe.conf')]);
    const told = async (config?: string, configDir?: string) => {
      const given = (name: string | undefined) => (name === undefined ? undefined : join(root, name));
      return (await failure(load(given(config), given(configDir)), root)).join('\n');
    };
    assert.match(await told('none.yaml'), /^none\.yaml: there is no such file$/);
    assert.match(await told('x.conf'), /^x\.conf: cannot be read: .*not a regular file/);
    assert.match(await told('pipe.conf'), /^pipe\.conf: cannot be read: .*not a regular file/);
    assert.match(await told(undefined, 'plain'), /^plain: cannot read the drop-ins: it is not a folder$/);
    if (process.geteuid?.() !== 0) {
      await chmod(join(root, 'plain'), 0);
      assert.match(await told('plain'), /^plain: user \d+ may not read it$/);
    }
  });

  test('flags', async () => {
    const cases: [FlagValues, RegExp][] = [
      [{ port: '70000' }, /^--port: must be from 0 to 65535, not 70000$/],
      [{ port: '-1' }, /^--port: "-1" is not a port number$/],
      [{ address: '' }, /^--address: must not be empty$/],
      [{ address: 'x' }, /^--address: "x" is not an IP address$/],
      [{ featureGates: 'A' }, /^--feature-gates: "A" is not of the form NAME=true or NAME=false$/],
      [{ featureGates: 'A=true' }, /^--feature-gates: there is no feature gate "A"/],
      [{ containerRuntimeEndpoint: 'npipe://x' }, /^--container-runtime-endpoint: .*unix:\/\/\//],
    ];
    for (const [flags, expected] of cases) {
      assert.match((await failure(load(undefined, undefined, flags), folder)).join('\n'), expected);
    }
  });
});
