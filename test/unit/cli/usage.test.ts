import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitCodes } from '../../../src/base/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import { runCommandLine } from './run-command.ts';

const commands = [
  'access',
  'agent',
  'apiserver',
  'checkpoint',
  'completion',
  'config',
  'devices',
  'doctor',
  'history',
  'plugins',
  'pods',
  'reload',
  'seccomp',
  'status',
  'storage',
  'token',
  'version',
  'help',
];

describe('help', () => {
  test('is there for the program and every command, and goes to standard output', async () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, stdout, stderr } = await runCommandLine(args);
      assert.equal(code, exitCodes.ok);
      assert.equal(stderr, '');
      for (const command of commands) assert.match(stdout, new RegExp(`^  ${command}\\b`, 'm'));
    }
    for (const command of commands) {
      for (const args of [
        [command, '--help'],
        [command, '-h'],
        ['help', command],
      ]) {
        const { code, stdout, stderr } = await runCommandLine(args);
        assert.equal(code, exitCodes.ok, args.join(' '));
        assert.match(stdout, new RegExp(`^Usage: nodeward ${command}\\b`), args.join(' '));
        assert.equal(stderr, '');
      }
    }
  });

  test('names every flag that is promised', async () => {
    const promised: Record<string, string> = {
      agent:
        'config config-dir node-labels root-dir cert-dir lock-file exit-on-lock-contention kubeconfig embedded-control-plane hostname-override container-runtime-endpoint address port group-suffix taint-domain feature-gates log-format bind-address secure-port storage history-window history-bytes',
      apiserver:
        'root-dir group-suffix taint-domain bind-address secure-port storage history-window history-bytes feature-gates log-format audit-policy-file audit-log-path client-ca-file token-auth-file anonymous-auth oidc-issuer-url oidc-client-id',
      checkpoint: 'kubeconfig root-dir',
    };
    for (const [command, flags] of Object.entries(promised)) {
      const { stdout } = await runCommandLine([command, '--help']);
      for (const flag of flags.split(' '))
        assert.match(stdout, new RegExp(`--${flag}\\b`), `${command} --${flag}`);
    }
  });

  test('the version', async () => {
    assert.match((await runCommandLine(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    assert.match((await runCommandLine(['version'])).stdout, /^nodeward \d+\.\d+\.\d+ /);
  });
});

describe('what is called wrongly', () => {
  const wrong: string[][] = [
    [],
    ['nothing'],
    ['--nothing'],
    ['-x'],
    ...commands.map((command) => [command, '--nothing']),
    ...['agent', 'apiserver', 'version'].map((command) => [command, 'more']),
    ['agent', '--', 'more'],
    ['help', 'nothing'],
    ['help', 'agent', 'more'],
    ['checkpoint'],
    ['checkpoint', 'a/b/c', 'more'],
    ...['a', 'a/', '/b', 'a/b/c/d', '/b/c', 'a//c', 'a/b/', ''].map((target) => ['checkpoint', target]),
    ...['-1', '1.5', 'x', '', '9999999'].map((seconds) => ['checkpoint', 'a/b/c', `--timeout=${seconds}`]),
    ...['-1', '65536', '1e3', '0x10', '', ' 80', '８０'].map((port) => ['agent', `--port=${port}`]),
    ...['abc', '100000'].map((port) => ['apiserver', `--secure-port=${port}`]),
    ...['localhost', '1.2.3', '', '::g', '1.2.3.4:5'].map((address) => [
      'apiserver',
      `--bind-address=${address}`,
    ]),
    ...['localhost', ''].map((address) => ['agent', `--address=${address}`]),
    ...['root-dir', 'config', 'config-dir', 'cert-dir', 'lock-file', 'kubeconfig'].flatMap((flag) => [
      ['agent', `--${flag}=`],
      ['agent', `--${flag}`],
    ]),
    ['apiserver', '--root-dir='],
    ...['K8S', 'a..b', '-a', '', 'a/b'].map((suffix) => ['apiserver', `--group-suffix=${suffix}`]),
    ['apiserver', '--taint-domain=Not_A_Domain'],
    ...['etcd', 'SQLITE', ''].map((storage) => ['apiserver', `--storage=${storage}`]),
    ...['9s', '25h', '5', 'x', ''].map((window) => ['apiserver', `--history-window=${window}`]),
    ...['1023Ki', '2Ti', '-1', '1.5Mi', '1M', ''].map((size) => ['apiserver', `--history-bytes=${size}`]),
    ['apiserver', '--client-ca-file='],
    ['apiserver', '--anonymous-auth=perhaps'],
    ['apiserver', '--oidc-required-claim=x'],
    ['apiserver', '--oidc-client-id=x'],
    ['apiserver', '--oidc-issuer-url=https://x'],
    ['apiserver', '--audit-log-path=-'],
    ['apiserver', '--audit-policy-file=/nowhere'],
    ['apiserver', '--audit-log-maxsize=0'],
    ['apiserver', '--audit-log-maxbackup=many'],
    ['storage'],
    ['storage', 'nothing'],
    ['storage', 'stats', 'more'],
    ['storage', 'check', '--nothing'],
    ['storage', 'check', '--output=xml'],
    ['storage', 'snapshot'],
    ['storage', 'snapshot', ''],
    ['storage', 'restore'],
    ['storage', 'restore', 'a', '--kubeconfig=b'],
    ['storage', 'defrag', '--root-dir='],
    ['apiserver', '--log-format=xml'],
    ...['A', 'A=yes', '=true', 'A=true=false', 'A=true,B'].flatMap((gates) => [
      ['agent', `--feature-gates=${gates}`],
      ['apiserver', `--feature-gates=${gates}`],
    ]),
    ['agent', '--embedded-control-plane=perhaps'],
    ['agent', '--embedded-control-plane'],
    ['agent', '--exit-on-lock-contention=true'],
    ['agent', '--kubeconfig=/nowhere', '--embedded-control-plane=true'],
    ...['/run/x.sock', 'tcp://x', 'unix://', 'unix://relative'].map((socket) => [
      'agent',
      `--container-runtime-endpoint=${socket}`,
    ]),
  ];
  for (const args of wrong) {
    test(`nodeward ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runCommandLine(args);
      assert.equal(code, exitCodes.usage, stderr);
      assert.equal(stdout, '', 'only what was asked for goes to standard output');
      assert.notEqual(stderr, '');
      assert.doesNotMatch(stderr, /\n +at |node:internal|\.ts:\d/, 'no stack trace');
    });
  }
});

describe('what fails', () => {
  test('is told in a line, with what to do', async () => {
    await using folder = await temporaryFolder();
    const missing = await runCommandLine(['checkpoint', 'a/b/c', '--root-dir', folder.path]);
    assert.equal(missing.code, exitCodes.configuration);
    assert.match(missing.stderr, /^nodeward: there is no kubeconfig in .*--kubeconfig\n$/);
    const absent = await runCommandLine(['checkpoint', 'a/b/c', '--kubeconfig', `${folder.path}/none`]);
    assert.equal(absent.code, exitCodes.configuration);
    assert.match(absent.stderr, /^nodeward: .*none.*\n$/);
  });

  test('a feature that there is not, or that is locked: all of them at once, with those that there are', async () => {
    await using folder = await temporaryFolder();
    const gates = ['--feature-gates=Nope=true,WatchList=true', '--feature-gates=DryRun=false'];
    const args = ['apiserver', '--root-dir', folder.path, '--storage', 'memory', ...gates];
    const { code, stderr } = await runCommandLine(args);
    assert.equal(code, exitCodes.configuration);
    assert.match(
      stderr,
      /^nodeward: the value of --feature-gates cannot be used: .*"Nope".*WatchList.*AllBeta/,
    );
    assert.match(stderr, /DryRun to false: it is locked to true\n$/);
  });

  test('an address that this machine does not have', async () => {
    await using folder = await temporaryFolder();
    const { code, stderr } = await runCommandLine([
      ...['apiserver', '--root-dir', folder.path, '--storage', 'memory'],
      ...['--bind-address', '192.0.2.1', '--secure-port', '0'],
    ]);
    assert.equal(code, exitCodes.address);
    assert.match(stderr, /^nodeward: the API cannot listen on 192\.0\.2\.1:0: .*--bind-address$/m);
    assert.doesNotMatch(stderr, /"stack"/);
  });
});
