import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { explainCall, judgeProfile } from '../../../../src/agent/seccomp/index.ts';
import { architecture, judge, syscalls } from './sample-profile.ts';

const anyJson = fc.jsonValue({ maxDepth: 6 });
const loose = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: value }, { weight: 1, arbitrary: anyJson });

const name = fc.oneof(
  fc.constantFrom('read', 'write', 'execve', 'clone', 'mount', 'socket', 'set_tls', 'nothing'),
  fc.string({ maxLength: 60 }),
);
const action = fc.constantFrom(
  'SCMP_ACT_ALLOW',
  'SCMP_ACT_ERRNO',
  'SCMP_ACT_KILL',
  'SCMP_ACT_NOTIFY',
  'SCMP_ACT_TRACE',
  'SECCOMP_RET_ALLOW',
);
const condition = fc.record(
  {
    index: loose(fc.nat(6)),
    value: loose(fc.nat()),
    valueTwo: loose(fc.nat()),
    op: loose(fc.constantFrom('SCMP_CMP_EQ', 'SCMP_CMP_LT', 'SCMP_CMP_MASKED_EQ')),
  },
  { requiredKeys: [] },
);
const rule = fc.record(
  {
    names: loose(fc.array(loose(name), { minLength: 1, maxLength: 6 })),
    name: loose(fc.constant(null)),
    action: loose(action),
    errnoRet: loose(fc.constant(null)),
    args: loose(fc.array(loose(condition), { maxLength: 3 })),
    includes: anyJson,
  },
  { requiredKeys: ['action'] },
);
const profile = fc.record(
  {
    defaultAction: loose(action),
    defaultErrnoRet: loose(fc.constant(null)),
    architectures: loose(fc.array(loose(fc.constantFrom('SCMP_ARCH_X86_64', 'SCMP_ARCH_ARM')))),
    flags: loose(fc.constant(null)),
    listenerPath: loose(fc.constant('/a')),
    syscalls: loose(fc.array(loose(rule), { maxLength: 6 })),
  },
  { requiredKeys: ['defaultAction'] },
);

describe('the judge', () => {
  test('never throws on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const { digest, errors, profile } = judgeProfile(bytes, { architecture, syscalls });
        assert.match(digest, /^sha256:[0-9a-f]{64}$/);
        assert.equal(
          profile === undefined,
          errors.length > 0,
          'there is a profile where there are no errors',
        );
      }),
    );
  });

  test('never throws on what is nearly a profile, and what it calls valid can be explained', () => {
    let valid = 0;
    fc.assert(
      fc.property(fc.oneof(profile, anyJson), (value) => {
        const judgement = judge(value);
        assert.equal(judgement.profile === undefined, judgement.errors.length > 0);
        if (judgement.profile === undefined) return;
        valid++;
        for (const call of ['read', 'clone', 'execve', 'set_tls'])
          assert.ok(explainCall(judgement.profile, call, { architecture, syscalls }).decision.kind);
      }),
      { numRuns: 500 },
    );
    assert.ok(valid > 0, 'some were valid');
  });

  test('cuts a valid profile anywhere: it is not valid any more', () => {
    const text = JSON.stringify({
      defaultAction: 'SCMP_ACT_ERRNO',
      syscalls: [{ names: ['execve'], action: 'SCMP_ACT_ALLOW' }],
    });
    assert.deepEqual(judge(text).errors, []);
    for (let length = 0; length < text.length; length++)
      assert.ok(judge(text.slice(0, length)).errors.length > 0);
  });

  test('says no more than its bounds, however much is wrong', () => {
    const names = Array.from({ length: 4900 }, (_, index) => `unknown_call_${index}`);
    const rules = Array.from({ length: 4900 }, () => ({ names: ['read'], action: 'SCMP_ACT_NONE' }));
    for (const value of [
      { defaultAction: 'SCMP_ACT_ERRNO', syscalls: [{ names, action: 'SCMP_ACT_ALLOW' }] },
      { defaultAction: 'SCMP_ACT_ERRNO', syscalls: rules },
    ]) {
      const { errors, warnings } = judge(value);
      assert.ok(errors.length <= 101 && warnings.length <= 101);
      assert.match([...errors, ...warnings].map(({ message }) => message).join('\n'), /and \d+ more/);
    }
    const many = Array.from({ length: 5001 }, () => ({ names: ['read'], action: 'SCMP_ACT_ALLOW' }));
    assert.deepEqual(judge({ defaultAction: 'SCMP_ACT_ERRNO', syscalls: many }).errors, [
      { path: 'syscalls', message: 'has 5001 items, and may have 5000' },
    ]);
  });
});
