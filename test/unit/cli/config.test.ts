import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { exitCodes } from '../../../src/base/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import { configFiles } from '../agent/config/config-files.ts';
import { runCommandLine } from './run-command.ts';

const sample = {
  'c.yaml':
    'port: 20250\nstaticPodURLHeader: {Authorization: [hush]}\nfeatureGates: {ContainerCheckpoint: false}\n',
  'd/10.conf': 'port: 20251\nkubeAPIQPS: 4\n',
};

/** A command of `nodeward config` with the two files of the sample. */
async function config(...args: readonly string[]) {
  await using folder = await configFiles(sample);
  const where = ['--config', join(folder.path, 'c.yaml'), '--config-dir', join(folder.path, 'd')];
  const end = await runCommandLine(['config', ...args, ...where]);
  const plain = (text: string) => text.replaceAll(`${folder.path}/`, '');
  return { ...end, stdout: plain(end.stdout), stderr: plain(end.stderr) };
}

describe('apiVersion kubelet.config.{group_suffix}/v1beta1', () => {
  const check = async (apiVersion: string, ...args: readonly string[]) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'c.yaml');
    await writeFile(file, `apiVersion: ${apiVersion}\nkind: KubeletConfiguration\nmaxPods: 5\n`);
    return await runCommandLine(['config', 'check', '--config', file, ...args]);
  };

  test('is accepted with --group-suffix, and the k8s.io name still is', async () => {
    const own = 'kubelet.config.example.org/v1beta1';
    assert.equal((await check(own, '--group-suffix', 'example.org')).code, exitCodes.ok);
    const reference = 'kubelet.config.k8s.io/v1beta1';
    assert.equal((await check(reference, '--group-suffix', 'example.org')).code, exitCodes.ok);
    assert.equal((await check(reference)).code, exitCodes.ok);
    const refused = await check(own);
    assert.equal(refused.code, exitCodes.configuration);
    assert.match(refused.stderr, /is not supported; use kubelet\.config\.k8s\.io\/v1beta1/);
    const other = await check('kubelet.config.other.org/v1beta1', '--group-suffix', 'example.org');
    assert.match(other.stderr, /is not supported; use kubelet\.config\.example\.org\/v1beta1/);
  });

  test('config view knows it too', async () => {
    const { code, stderr } = await config('view', '--group-suffix', 'example.org');
    assert.equal(code, exitCodes.ok, stderr);
  });
});

describe('feature gates of the reference', () => {
  const check = async (gates: string) => {
    await using folder = await configFiles({ 'c.yaml': `featureGates: ${gates}\n` });
    return await runCommandLine(['config', 'check', '--config', join(folder.path, 'c.yaml')]);
  };

  test('that have no effect here warn and do not stop the agent; unknown ones still do', async () => {
    const { code, stdout, stderr } = await check('{MemoryQoS: true, KubeletSeparateDiskGC: true}');
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /the configuration is good, with 2 warnings/);
    for (const name of ['MemoryQoS', 'KubeletSeparateDiskGC'])
      assert.match(
        stderr,
        new RegExp(`^warning: .*c\\.yaml:3: featureGates\\.${name} has no effect here: `, 'm'),
      );
    const unknown = await check('{MemoryQos: true}');
    assert.equal(unknown.code, exitCodes.configuration);
    assert.match(unknown.stderr, /there is no feature gate "MemoryQos"/);
    const flag = await runCommandLine(['config', 'check', '--feature-gates', 'NodeSwap=true']);
    assert.equal(flag.code, exitCodes.ok, flag.stderr);
    assert.match(flag.stderr, /featureGates\.NodeSwap has no effect here/);
  });
});

describe('nodeward config view', () => {
  test('prints the effective configuration as YAML, without secrets; warnings go elsewhere', async () => {
    const { code, stdout, stderr } = await config('view', '--address', '192.0.2.1');
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^address: "192\.0\.2\.1"$/m);
    assert.match(stdout, /^apiVersion: kubelet\.config\.k8s\.io\/v1beta1$/m);
    assert.match(stdout, /^kind: KubeletConfiguration$/m);
    assert.match(stdout, /^port: 20251$/m);
    assert.match(stdout, /^featureGates:\n {2}ContainerCheckpoint: false$/m);
    assert.match(stdout, /^maxPods: 110$/m);
    assert.match(stdout, /^ {2}Authorization:\n {2}- REDACTED$/m);
    assert.doesNotMatch(stdout, /hush/);
    assert.match(stderr, /^warning: d\/10\.conf:4: kubeAPIQPS has no effect here: /m);
  });

  test('as JSON it can be given to an agent again', async () => {
    const { stdout } = await config('view', '-o', 'json');
    await using folder = await configFiles({ 'again.json': stdout });
    const again = await runCommandLine([
      'config',
      'view',
      '-o',
      'json',
      '--config',
      join(folder.path, 'again.json'),
    ]);
    assert.deepEqual(JSON.parse(again.stdout), JSON.parse(stdout));
  });

  test('with --origin: a table for people', async () => {
    const { stdout } = await config('view', '--origin', '--feature-gates', 'AllAlpha=true');
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(rows[0], ['FIELD', 'VALUE', 'FROM', 'OVERRODE']);
    const row = (field: string) => rows.find(([first]) => first === field);
    assert.deepEqual(row('port'), ['port', '20251', 'd/10.conf:3', '20250 (c.yaml:3), 10250 (default)']);
    assert.deepEqual(row('maxPods'), ['maxPods', '110', 'default']);
    assert.deepEqual(row('featureGates.AllAlpha'), ['featureGates.AllAlpha', 'true', 'flag --feature-gates']);
    assert.deepEqual(row('staticPodURLHeader.Authorization')?.slice(1), ['["REDACTED"]', 'c.yaml:4']);
    assert.ok(rows.slice(0, -1).every((cells) => cells.length >= 3));
  });

  test('with --origin and -o: the same for programs', async () => {
    const json: unknown = JSON.parse((await config('view', '--origin', '-o', 'json')).stdout);
    assert.ok(Array.isArray(json));
    const port: unknown = json.find((row) => row.field === 'port');
    const overrode = [
      { value: 20250, origin: 'c.yaml:3' },
      { value: 10250, origin: 'default' },
    ];
    assert.deepEqual(port, { field: 'port', value: 20251, origin: 'd/10.conf:3', overrode });
    assert.match((await config('view', '--origin', '-o', 'yaml')).stdout, /^- field: port$/m);
  });

  test('knows that without a control plane whoever is known may do everything', async () => {
    const { stdout } = await runCommandLine(['config', 'view', '--embedded-control-plane=false']);
    assert.match(stdout, /^authorization:\n {2}mode: AlwaysAllow$/m);
  });
});

describe('nodeward config check', () => {
  test('ends with 0 when the configuration is good', async () => {
    const { code, stdout } = await config('check');
    assert.equal(code, exitCodes.ok);
    assert.equal(stdout, 'the configuration is good, with 1 warning\n');
    assert.equal((await runCommandLine(['config', 'check'])).stdout, 'the configuration is good\n');
  });

  test('tells all that is wrong in all files and ends with 3', async () => {
    await using folder = await configFiles({
      'c.yaml': 'port: "80"\nadress: 1.2.3.4\n',
      'd/a.conf': 'a: [',
      'd/b.conf': 'maxPods: -1\n',
    });
    const where = ['--config', join(folder.path, 'c.yaml'), '--config-dir', join(folder.path, 'd')];
    for (const command of ['check', 'view']) {
      const { code, stdout, stderr } = await runCommandLine(['config', command, ...where]);
      assert.equal(code, exitCodes.configuration);
      assert.equal(stdout, '');
      const lines = stderr.replaceAll(`${folder.path}/`, '').trimEnd().split('\n');
      assert.equal(lines.shift(), 'looking at c.yaml and d, of the flags');
      assert.deepEqual(lines.slice(0, 2), [
        'nodeward: c.yaml:3:7: port: expected a 32-bit integer, found string "80"',
        'c.yaml:4:1: adress: unknown field',
      ]);
      assert.match(lines[2] ?? '', /^d\/a\.conf:3:\d+: /);
      assert.match(lines[3] ?? '', /^d\/b\.conf:3:10: maxPods: must be from 0/);
      assert.equal(lines.length, 4);
    }
  });

  test('looks at the files that the configuration names', async () => {
    await using folder = await configFiles({
      'c.yaml': 'authentication: {x509: {clientCAFile: ca.crt}}\n',
    });
    const { code, stderr } = await runCommandLine([
      'config',
      'check',
      '--config',
      join(folder.path, 'c.yaml'),
    ]);
    assert.equal(code, exitCodes.configuration);
    assert.match(stderr, /clientCAFile: .*ca\.crt cannot be used: /);
  });
});

describe('nodeward reload', () => {
  test('without an agent it fails and says what to do', async () => {
    await using folder = await temporaryFolder();
    const { code, stderr } = await runCommandLine(['reload', '--root-dir', folder.path]);
    assert.equal(code, exitCodes.failed);
    assert.match(stderr, /^nodeward: no agent listens on .*agent\.sock: start one, or name its folder/);
  });
});

describe('what is called wrongly', () => {
  const wrong: string[][] = [
    ['config'],
    ['config', 'nothing'],
    ['config', 'view', 'more'],
    ['config', 'view', '-o', 'xml'],
    ['config', 'check', '--config='],
    ['reload', 'more'],
    ['reload', '--timeout=5'],
    ['agent', '--node-labels=a'],
    ['agent', '--node-labels=a=b=c'],
    ['agent', '--node-labels=a b=c'],
  ];
  for (const args of wrong) {
    test(`nodeward ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runCommandLine(args);
      assert.equal(code, exitCodes.usage, stderr);
      assert.equal(stdout, '');
      assert.notEqual(stderr, '');
    });
  }
});
