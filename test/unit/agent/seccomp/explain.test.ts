import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Architecture, Explanation } from '../../../../src/agent/seccomp/index.ts';
import { describeOutcome, explainCall } from '../../../../src/agent/seccomp/index.ts';
import { allowing, architecture, denying, judge, syscalls, when } from './sample-profile.ts';

function explain(
  value: unknown,
  syscall: string,
  args: readonly (readonly [number, bigint])[] = [],
  callArchitecture: Architecture = architecture,
): Explanation {
  const { profile, errors } = judge(value);
  assert.ok(profile, errors.map(({ message }) => message).join());
  return explainCall(profile, syscall, { architecture, callArchitecture, syscalls, args: new Map(args) });
}

/** Who decides, and what happens. */
function decided({ decision }: Explanation): string {
  return decision.kind === 'decided' ? `${decision.by}: ${describeOutcome(decision.outcome)}` : decision.kind;
}

describe('what comes of a call', () => {
  test('is said by the rule that names it, else by the default', () => {
    const profile = denying(allowing('read', 'pidfd_open'), {
      names: ['mount'],
      action: 'SCMP_ACT_KILL_PROCESS',
    });
    assert.equal(decided(explain(profile, 'read')), 'syscalls[1]: allowed');
    assert.equal(decided(explain(profile, 'mount')), 'syscalls[2]: the process is killed');
    assert.equal(decided(explain(profile, 'open')), 'default: refused with EPERM (1)');
    assert.equal(explain(profile, 'read').number, 0);
  });

  test('depends on conditions, which are told, and decided when the arguments are known', () => {
    const profile = denying(
      allowing('pidfd_open'),
      when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_MASKED_EQ', 0x7e02_0000),
    );
    const open = explain(profile, 'clone');
    assert.deepEqual(open.decision, { kind: 'depends', otherwise: { action: 'SCMP_ACT_ERRNO', code: 1 } });
    assert.deepEqual(open.rules[0]?.conditions, [['arg0 & 0x7e020000 == 0x0']]);
    assert.equal(open.rules[0]?.matches, undefined);
    assert.equal(decided(explain(profile, 'clone', [[0, 0x11n]])), 'syscalls[2]: allowed');
    assert.equal(decided(explain(profile, 'clone', [[0, 0x2000_0000n]])), 'default: refused with EPERM (1)');
    assert.equal(decided(explain(profile, 'clone', [[1, 0n]])), 'depends', 'on another argument');
  });

  test('needs all conditions of a rule, but one of two on the same argument', () => {
    const eq = (index: number, value: number) => ({ index, op: 'SCMP_CMP_EQ', value });
    const both = denying(allowing('pidfd_open'), { ...allowing('socket'), args: [eq(0, 1), eq(1, 2)] });
    assert.equal(
      decided(
        explain(both, 'socket', [
          [0, 1n],
          [1, 2n],
        ]),
      ),
      'syscalls[2]: allowed',
    );
    assert.equal(
      decided(
        explain(both, 'socket', [
          [0, 1n],
          [1, 3n],
        ]),
      ),
      'default: refused with EPERM (1)',
    );
    assert.equal(
      decided(explain(both, 'socket', [[0, 9n]])),
      'default: refused with EPERM (1)',
      'one is enough to fail',
    );
    const either = denying(allowing('pidfd_open'), { ...allowing('socket'), args: [eq(0, 1), eq(0, 2)] });
    assert.equal(decided(explain(either, 'socket', [[0, 2n]])), 'syscalls[2]: allowed');
  });

  test('compares all 64 bits, unsigned, by each operator', () => {
    const cases: [op: string, value: bigint, yes: bigint, no: bigint][] = [
      ['EQ', 2n ** 63n, 2n ** 63n, 2n ** 63n + 1n],
      ['NE', 5n, 6n, 5n],
      ['LT', 2n ** 64n - 1n, 2n ** 64n - 2n, 2n ** 64n - 1n],
      ['LE', 5n, 5n, 6n],
      ['GE', 2n ** 53n + 1n, 2n ** 53n + 1n, 2n ** 53n],
      ['GT', 5n, 6n, 5n],
    ];
    for (const [op, value, yes, no] of cases) {
      const text = JSON.stringify(
        denying(allowing('pidfd_open'), when('socket', 'SCMP_ACT_ALLOW', `SCMP_CMP_${op}`, 77)),
      );
      const profile = text.replace('"value":77', `"value":${value}`);
      assert.equal(decided(explain(profile, 'socket', [[0, yes]])), 'syscalls[2]: allowed', op);
      assert.equal(decided(explain(profile, 'socket', [[0, no]])), 'default: refused with EPERM (1)', op);
    }
  });

  test('is said by a rule without conditions before all others, the first of them', () => {
    const kill = when('clone', 'SCMP_ACT_KILL', 'SCMP_CMP_EQ', 1);
    const trap = { names: ['clone'], action: 'SCMP_ACT_TRAP' };
    const profile = denying(allowing('pidfd_open'), kill, allowing('clone'), trap);
    assert.equal(decided(explain(profile, 'clone', [[0, 1n]])), 'syscalls[3]: allowed');
  });

  test('is not told where several rules match that differ', () => {
    const profile = denying(
      allowing('pidfd_open'),
      when('clone', 'SCMP_ACT_KILL', 'SCMP_CMP_EQ', 7),
      when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_GE', 5),
    );
    assert.equal(explain(profile, 'clone', [[0, 7n]]).decision.kind, 'undetermined');
    assert.equal(decided(explain(profile, 'clone', [[0, 8n]])), 'syscalls[3]: allowed');
  });

  test('leaves out rules that do what the default does, as runc', () => {
    const profile = {
      defaultAction: 'SCMP_ACT_ALLOW',
      syscalls: [
        when('mount', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 1),
        { names: ['mount'], action: 'SCMP_ACT_ERRNO' },
      ],
    };
    assert.equal(decided(explain(profile, 'mount', [[0, 1n]])), 'syscalls[1]: refused with EPERM (1)');
  });

  test('is ENOSYS where runc finds the call newer than the profile', () => {
    const profile = denying(allowing('pidfd_open')); // 434
    assert.equal(decided(explain(profile, 'clone3')), 'newer: refused with ENOSYS (38)');
    const open = {
      defaultAction: 'SCMP_ACT_ALLOW',
      syscalls: [{ names: ['mount'], action: 'SCMP_ACT_ERRNO' }],
    };
    assert.equal(decided(explain(open, 'clone3')), 'default: allowed', 'not where the default allows');
  });

  test('on another architecture kills unless the profile has it', () => {
    const profile = { ...denying(allowing('read', 'pidfd_open')), architectures: ['SCMP_ARCH_X86'] };
    assert.equal(decided(explain(profile, 'read', [], 'SCMP_ARCH_X86')), 'syscalls[1]: allowed');
    assert.equal(explain(profile, 'read', [], 'SCMP_ARCH_X86').number, 3);
    assert.equal(
      decided(explain(profile, 'read', [], 'SCMP_ARCH_X32')),
      'architecture: the thread is killed',
    );
    assert.equal(explain(profile, 'set_tls').decision.kind, 'none');
  });
});
