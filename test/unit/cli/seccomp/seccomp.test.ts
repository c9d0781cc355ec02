import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { exitCodes } from '../../../../src/base/index.ts';
import { listProfiles } from '../../../../src/cli/seccomp/ls.ts';
import { withoutColour } from '../../../../src/cli/terminal/colour.ts';
import { renderForPeople } from '../../../../src/cli/terminal/result.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { runCommandLine } from '../run-command.ts';

const good = JSON.stringify({
  defaultAction: 'SCMP_ACT_ERRNO',
  architectures: [],
  syscalls: [
    { names: ['execve', 'pidfd_open'], action: 'SCMP_ACT_ALLOW' },
    { names: ['socket'], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, value: 40, op: 'SCMP_CMP_NE' }] },
  ],
});
const bad = '{"defaultAction": "SCMP_ACT_NO"}';

const shownProfiles = (status: Record<string, unknown>, nowMs: number) =>
  renderForPeople(listProfiles(status, nowMs), 'table', withoutColour);

describe('nodeward seccomp check', () => {
  test('judges files and what is piped in, and ends with 1 when something is wrong', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'good.json');
    await writeFile(path, good);
    const one = await runCommandLine(['seccomp', 'check', path]);
    assert.equal(one.code, exitCodes.ok);
    assert.match(one.stdout, /good\.json: valid, sha256:[0-9a-f]{64}\n$/);
    const all = await runCommandLine(['seccomp', 'check', path, '-', join(folder.path, 'none')], bad);
    assert.equal(all.code, exitCodes.failed);
    assert.match(all.stdout, /^standard input: error: defaultAction: "SCMP_ACT_NO" is not one of/m);
    assert.match(all.stdout, /none: error: ENOENT/);
    const json = await runCommandLine(['seccomp', 'check', '-o', 'json', '-'], good);
    assert.deepEqual(JSON.parse(json.stdout).files[0].errors, []);
  });

  test('judges for another architecture, too', async () => {
    const arm = good.replace('"architectures":[]', '"architectures":["SCMP_ARCH_AARCH64"]');
    const { stdout } = await runCommandLine(['seccomp', 'check', '--arch', 's390x', '-'], arm);
    assert.match(stdout, /error: architectures\[0\]: .* this node's SCMP_ARCH_S390X/);
    const unknown = await runCommandLine(['seccomp', 'check', '--arch', 'vax', '-'], arm);
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [exitCodes.usage, 'nodeward: "vax" is no architecture that seccomp knows\n'],
    );
  });

  test('shows no control characters of a file', async () => {
    const { stdout } = await runCommandLine(
      ['seccomp', 'check', '-'],
      '{"defaultAction":"\\u001b[31m","\\u009b1m":1}',
    );
    assert.match(stdout, /defaultAction/);
    assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}/u);
  });
});

describe('nodeward seccomp explain', () => {
  const explain = (...args: string[]) => runCommandLine(['seccomp', 'explain', '-', ...args], good);

  test('tells which rule decides, and on what it depends', async () => {
    assert.equal(
      (await explain('execve', '--arch', 'amd64')).stdout,
      'execve on SCMP_ARCH_X86_64 (59): allowed\n  by syscalls[0]\n',
    );
    const open = (await explain('socket', '--arch', 'amd64')).stdout;
    assert.match(
      open,
      /it depends on the arguments\n {2}syscalls\[1\]: allowed if arg0 != 40\n {2}otherwise: refused with EPERM/,
    );
    assert.match(
      (await explain('socket', '--arg', '0=0x28')).stdout,
      /refused with EPERM \(1\)\n {2}by defaultAction/,
    );
    assert.match((await explain('socket', '--arg', '0=1')).stdout, /allowed\n {2}by syscalls\[1\]/);
    assert.equal(JSON.parse((await explain('socket', '-o', 'json')).stdout).decision.kind, 'depends');
  });

  test('refuses what makes no sense', async () => {
    assert.equal((await explain('no_such_call')).code, exitCodes.usage);
    for (const argument of ['6=1', '0', '0=-1', '0=18446744073709551616'])
      assert.equal((await explain('read', '--arg', argument)).code, exitCodes.usage, argument);
    const invalid = await runCommandLine(['seccomp', 'explain', '-', 'read'], bad);
    assert.equal(invalid.code, exitCodes.failed);
    assert.match(
      invalid.stderr,
      /standard input is not valid: defaultAction: .*; see all with nodeward seccomp check/,
    );
  });
});

describe('nodeward seccomp resolve', () => {
  const pod = (spec: unknown) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec });
  const localhost = (localhostProfile: string) => ({
    seccompProfile: { type: 'Localhost', localhostProfile },
  });

  async function resolve(root: string, spec: unknown, ...args: string[]) {
    return await runCommandLine(['seccomp', 'resolve', '-', '--root-dir', root, ...args], pod(spec));
  }

  test('tells what each container gets, and whence', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'seccomp/team'), { recursive: true });
    await writeFile(join(folder.path, 'seccomp/team/a.json'), good);
    const spec = {
      securityContext: localhost('team/a.json'),
      initContainers: [{ name: 'init', image: 'a' }],
      containers: [
        { name: 'main', image: 'a', securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      ],
    };
    const { code, stdout } = await resolve(folder.path, spec);
    assert.equal(code, exitCodes.ok);
    assert.match(stdout, /^web +init +Localhost +pod +\S+\/seccomp\/team\/a\.json +sha256:[0-9a-f]{12}$/m);
    assert.match(stdout, /^web +main +RuntimeDefault +container +- +-$/m);
  });

  test('heeds seccompDefault of the flag and of the configuration', async () => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, 'config.yaml');
    await writeFile(
      config,
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nseccompDefault: true\n',
    );
    const spec = { containers: [{ name: 'main', image: 'a' }] };
    const typeOf = async (...args: string[]) =>
      JSON.parse((await resolve(folder.path, spec, '-o', 'json', ...args)).stdout).containers[0].type;
    assert.equal(await typeOf(), 'Unconfined');
    assert.equal(await typeOf('--seccomp-default'), 'RuntimeDefault');
    assert.equal(await typeOf('--config', config), 'RuntimeDefault');
    assert.equal(await typeOf('--config', config, '--seccomp-default=false'), 'Unconfined');
  });

  test('ends with 1 and the reason where a container cannot be made', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'seccomp'));
    await writeFile(join(folder.path, 'outside.json'), good);
    await symlink('../outside.json', join(folder.path, 'seccomp/link.json'));
    for (const [name, expected] of [
      ['none.json', /main: CreateContainerError: .*none\.json: no such file or directory\n/],
      ['../outside.json', /must not contain '\.\.'/],
      ['link.json', /leads out of the folder/],
    ] as const) {
      const { code, stdout } = await resolve(folder.path, {
        containers: [{ name: 'main', image: 'a', securityContext: localhost(name) }],
      });
      assert.equal(code, exitCodes.failed);
      assert.match(stdout, expected);
    }
    const none = await runCommandLine(['seccomp', 'resolve', '-'], 'kind: Service\napiVersion: v1\n');
    assert.deepEqual(
      [none.code, none.stderr],
      [exitCodes.failed, 'nodeward: standard input has no Pod in it\n'],
    );
  });
});

describe('nodeward seccomp ls', () => {
  test('shows the profiles with who uses them, and what is wrong', () => {
    const text = shownProfiles(
      {
        folder: '/var/lib/nodeward/seccomp',
        profiles: [
          {
            name: 'a.json',
            digest: `sha256:${'a'.repeat(64)}`,
            size: 120,
            modified: '2025-01-01T00:00:00Z',
            valid: true,
            errors: [],
            warnings: [{ path: 'syscalls[0].names[1]', message: 'is unknown' }],
            usedBy: [{ namespace: 'default', pod: 'web', container: 'main' }],
          },
          {
            name: 'b.json',
            state: 'missing',
            errors: [{ path: '', message: 'it is not there' }],
            usedBy: [{}, {}],
          },
        ],
      },
      Date.parse('2025-01-01T01:00:00Z'),
    );
    assert.deepEqual(text.split('\n'), [
      'profiles in /var/lib/nodeward/seccomp',
      'NAME     STATE     BYTES   AGE   USED BY            DIGEST',
      'a.json   valid     120     60m   default/web/main   sha256:aaaaaaaaaaaa',
      'b.json   missing   -       -     2 containers       -',
      'a.json: warning: syscalls[0].names[1]: is unknown',
      'b.json: error: it is not there',
      '',
    ]);
  });

  test('bears whatever an agent sends', () => {
    for (const status of [
      {},
      { profiles: 'x' },
      { profiles: [{}, 3, { errors: 'x', usedBy: [1], name: '\u001b[1m' }] },
    ])
      assert.match(shownProfiles(status, 0), /^(NAME +STATE|$)/);
  });
});

test('resolve --seccomp-default pod.yaml does not take pod.yaml for the value', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'pod.json');
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c' }] },
  };
  await writeFile(file, JSON.stringify(pod));
  const typeOf = async (...args: string[]) => {
    const all = ['seccomp', 'resolve', ...args, '--root-dir', folder.path, '-o', 'json'];
    const { code, stdout, stderr } = await runCommandLine(all);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout).containers[0].type;
  };
  assert.equal(await typeOf('--seccomp-default', file), 'RuntimeDefault');
  assert.equal(await typeOf('--seccomp-default', 'true', file), 'RuntimeDefault');
  assert.equal(await typeOf('--seccomp-default', 'false', file), 'Unconfined');
  assert.equal(await typeOf('--seccomp-default=false', file), 'Unconfined');
});
