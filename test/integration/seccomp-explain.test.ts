/** What explainCall tells of a profile is what runc, libseccomp and the kernel do with it. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Judgement, SyscallTable } from '../../src/agent/seccomp/index.ts';
import {
  explainCall,
  judgeProfile,
  loadSyscallTable,
  nodeArchitecture,
} from '../../src/agent/seccomp/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, temporaryFolder } from '../support/index.ts';
import { fetched } from './lab/index.ts';

/** Signals that the first process of a container, which handles none of them, survives; the second argument of kill. */
const signals = [0, 10, 12, 15];
/** What the shell says to each errno, and to none. */
const words: Readonly<Record<number, string>> = {
  1: 'Operation not permitted',
  13: 'Permission denied',
  16: 'Device or resource busy',
  38: 'Function not implemented',
};
const eperm = 1;

interface Condition {
  index: number;
  op: string;
  value: number;
  valueTwo: number;
}

const action = fc.oneof(
  fc.constant({ action: 'SCMP_ACT_ALLOW' }),
  fc.constantFrom(1, 16).map((errnoRet) => ({ action: 'SCMP_ACT_ERRNO', errnoRet })),
);
const conditionBy = (...ops: string[]): fc.Arbitrary<Condition> =>
  fc.record({
    index: fc.constantFrom(0, 1),
    op: fc.constantFrom(...ops),
    value: fc.constantFrom(0, 1, 10, 2 ** 40),
    valueTwo: fc.constantFrom(0, 1, 8),
  });
const ruleOf = (condition: fc.Arbitrary<Condition>) =>
  fc
    .tuple(action, fc.array(condition, { maxLength: 2 }))
    .map(([outcome, args]) => ({ names: ['kill'], ...outcome, args }));

const everyOperator = ['EQ', 'NE', 'LT', 'LE', 'GE', 'GT', 'MASKED_EQ'].map((op) => `SCMP_CMP_${op}`);
/** Of one rule with any conditions, or of several that compare for equality: libseccomp is exact in both. */
const profiles = fc.oneof(
  ruleOf(conditionBy(...everyOperator))
    .filter(({ args }) => new Set(args.map(({ index }) => index)).size === args.length)
    .map((rule) => [rule]),
  fc.array(ruleOf(conditionBy('SCMP_CMP_EQ')), { minLength: 2, maxLength: 4 }),
);

describe('a profile explained', () => {
  let folder: TemporaryFolder;
  let syscalls: SyscallTable;
  const architecture = nodeArchitecture();
  let started = 0;

  before(async () => {
    folder = await temporaryFolder();
    syscalls = await loadSyscallTable();
    for (const name of ['bin', 'proc']) await mkdir(join(folder.path, 'rootfs', name), { recursive: true });
    await copyFile(fetched('tools/bin/busybox'), join(folder.path, 'rootfs/bin/sh'));
  });
  after(() => folder[Symbol.asyncDispose]());

  /** What the shell says to each signal that it sends itself; undefined where runc refuses the profile. */
  async function tried(seccomp: unknown): Promise<string[] | undefined> {
    const script = signals.map((signal) => `kill -${signal} 1 2>&1 && echo sent`).join('; ');
    const config = {
      ociVersion: '1.0.2',
      process: { user: { uid: 0, gid: 0 }, args: ['/bin/sh', '-c', `${script}; true`], cwd: '/' },
      root: { path: 'rootfs', readonly: true },
      mounts: [{ destination: '/proc', type: 'proc', source: 'proc' }],
      linux: { namespaces: [{ type: 'pid' }, { type: 'mount' }], seccomp },
    };
    await writeFile(join(folder.path, 'config.json'), JSON.stringify(config));
    const runc = fetched('containerd-2.1/bin/runc');
    const id = `nodeward-explain-${process.pid}-${started++}`;
    const state = join(folder.path, 'state');
    const args = ['--root', state, 'run', '--bundle', folder.path, id];
    const { code, stdout, stderr } = await runCommand(runc, args);
    if (code === 0) return stdout.trim().split('\n');
    assert.match(stderr, /seccomp/);
    return undefined;
  }

  function judged(profile: unknown): Judgement {
    return judgeProfile(Buffer.from(JSON.stringify(profile)), { architecture, syscalls });
  }

  test('does what is told, in 60 made by chance', async () => {
    let [refusals, denials] = [0, 0];
    const check = async (rules: readonly unknown[]) => {
      const others = { names: syscalls.names.filter((name) => name !== 'kill'), action: 'SCMP_ACT_ALLOW' };
      const seccomp = { defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 13, syscalls: [others, ...rules] };
      const { profile, errors } = judged(seccomp);
      const said = await tried(seccomp);
      if (profile === undefined) {
        refusals++;
        assert.equal(said, undefined, errors.map(({ message }) => message).join());
        return;
      }
      assert.ok(said, 'a valid profile starts');
      for (const [index, signal] of signals.entries()) {
        const args = new Map([0, 1].map((each) => [each, BigInt(each === 0 ? 1 : signal)]));
        const { decision } = explainCall(profile, 'kill', { architecture, syscalls, args });
        assert.ok(decision.kind === 'decided' || decision.kind === 'undetermined');
        const outcomes =
          decision.kind === 'decided' ? [decision.outcome] : decision.among.map(({ outcome }) => outcome);
        const expected = outcomes.map(({ action, code = eperm }) =>
          action === 'SCMP_ACT_ALLOW' ? 'sent' : (words[code] ?? `errno ${code}`),
        );
        if (!expected.includes('sent')) denials++;
        assert.ok(
          expected.some((each) => said[index]?.includes(each)),
          `signal ${signal}: ${said[index]}, not ${expected.join()}`,
        );
      }
    };
    await fc.assert(fc.asyncProperty(profiles, check), { numRuns: 60, seed: 20_250_101, endOnFailure: true });
    assert.ok(denials > 20 && refusals > 0, `${denials} calls denied, ${refusals} profiles refused`);
  });

  test('says what a call gets that no rule names', async () => {
    const names = syscalls.names.filter((name) => name !== 'kill');
    const seccomp = {
      defaultAction: 'SCMP_ACT_ERRNO',
      defaultErrnoRet: 13,
      syscalls: [{ names, action: 'SCMP_ACT_ALLOW' }],
    };
    const { profile } = judged(seccomp);
    assert.ok(profile);
    const { decision } = explainCall(profile, 'kill', { architecture, syscalls });
    assert.deepEqual(decision, {
      kind: 'decided',
      by: 'default',
      outcome: { action: 'SCMP_ACT_ERRNO', code: 13 },
    });
    assert.match((await tried(seccomp))?.[0] ?? '', /Permission denied/);
  });
});
