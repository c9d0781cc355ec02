import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { judgeProfile } from '../../../../src/agent/seccomp/index.ts';
import {
  allowing,
  architecture,
  denying,
  errorsOf,
  judge,
  syscalls,
  warningsOf,
  when,
} from './sample-profile.ts';

describe('a profile', () => {
  test('that is good has no remarks, its digest, and its defaults filled in', () => {
    const text = JSON.stringify({
      ...denying({ ...allowing('read', 'write'), args: [] }, { names: ['open'], action: 'SCMP_ACT_KILL' }),
      architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
      flags: ['SECCOMP_FILTER_FLAG_LOG'],
    });
    const { digest, profile, errors, warnings } = judge(text);
    assert.deepEqual([errors, warnings], [[], []]);
    assert.equal(digest, `sha256:${createHash('sha256').update(text).digest('hex')}`);
    assert.deepEqual(profile?.defaultOutcome, { action: 'SCMP_ACT_ERRNO', code: 1 }, 'EPERM');
    assert.deepEqual(profile?.rules[2], {
      path: 'syscalls[2]',
      names: ['open'],
      outcome: { action: 'SCMP_ACT_KILL_THREAD' },
      args: [],
    });
  });

  test('that is no JSON object is told what it is', () => {
    const cases: Record<string, RegExp> = {
      '': /^: it is empty$/,
      '  \n': /^: it is empty$/,
      '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [': /^: it is not JSON: /,
      '[]': /^: must be an object, not a list$/,
      null: /^: must be an object, not null$/,
      '1': /^: must be an object, not a number$/,
      '\uFEFF{}': /byte order mark/,
    };
    for (const [text, expected] of Object.entries(cases)) {
      const [first = '', ...more] = errorsOf(text);
      assert.match(first, expected);
      assert.deepEqual(more, [], text);
    }
    const broken = judgeProfile(Buffer.from([0x7b, 0xff, 0x7d]), { architecture, syscalls });
    assert.deepEqual(broken.errors, [{ path: '', message: 'it is not UTF-8' }]);
    assert.match(errorsOf(`${'['.repeat(5000)}${']'.repeat(5000)}`)[0] ?? '', /nested deeper/);
    assert.match(errorsOf(' '.repeat(1024 * 1024 + 1))[0] ?? '', /may have 1048576/);
  });

  test('without a default action would leave a container unconfined, or unmade', () => {
    for (const profile of [{}, { defaultAction: '' }, { defaultAction: null, syscalls: [] }])
      assert.match(errorsOf(profile)[0] ?? '', /^defaultAction: is required: .* unconfined$/);
  });

  test('knows all actions, and of others what was meant', () => {
    for (const action of ['ALLOW', 'ERRNO', 'KILL', 'KILL_PROCESS', 'KILL_THREAD', 'LOG', 'TRACE', 'TRAP'])
      assert.deepEqual(errorsOf(denying({ names: ['read'], action: `SCMP_ACT_${action}` })), [], action);
    assert.deepEqual(errorsOf(denying({ names: ['read'], action: 'SECCOMP_RET_USER_NOTIF' })), [
      'syscalls[1].action: "SECCOMP_RET_USER_NOTIF" is the kernel\'s name; write SCMP_ACT_NOTIFY',
    ]);
    assert.match(
      errorsOf({ defaultAction: 'SCMP_ACT_DENY' })[0] ?? '',
      /^defaultAction: "SCMP_ACT_DENY" is not one of SCMP_ACT_ALLOW, /,
    );
    assert.match(errorsOf(denying({ names: ['read'] }))[0] ?? '', /^syscalls\[1\]\.action: "" is not one of/);
  });

  test('notifies only calls other than write, never by default, and somebody who listens', () => {
    const notify = (...names: string[]) => ({ names, action: 'SCMP_ACT_NOTIFY' });
    const listening = { listenerPath: '/run/agent.sock', listenerMetadata: 'x' };
    assert.deepEqual(errorsOf({ ...denying(notify('mount')), ...listening }), []);
    assert.match(errorsOf(denying(notify('mount')))[0] ?? '', /^listenerPath: is required: syscalls\[1\]/);
    assert.match(
      errorsOf({ ...denying(notify('mount', 'write')), ...listening })[0] ?? '',
      /^syscalls\[1\]\.names\[1\]: SCMP_ACT_NOTIFY cannot be used for write/,
    );
    assert.match(
      errorsOf({ defaultAction: 'SCMP_ACT_NOTIFY', ...listening })[0] ?? '',
      /^defaultAction: SCMP_ACT_NOTIFY cannot be the default/,
    );
    assert.match(errorsOf({ ...denying(), listenerMetadata: 'x' })[0] ?? '', /goes with listenerPath only/);
    assert.match(errorsOf({ ...denying(), listenerPath: 'a.sock' })[0] ?? '', /absolute/);
  });

  test('has codes where they belong, and none too great', () => {
    const rule = (action: string, errnoRet: unknown) =>
      errorsOf(denying({ names: ['read'], action, errnoRet }));
    assert.deepEqual(rule('SCMP_ACT_ERRNO', 0), []);
    assert.deepEqual(rule('SCMP_ACT_ERRNO', 4094), []);
    assert.match(rule('SCMP_ACT_ERRNO', 4095)[0] ?? '', /from 0 to 4094/);
    assert.match(rule('SCMP_ACT_ERRNO', -1)[0] ?? '', /from 0 to 4094/);
    assert.match(rule('SCMP_ACT_ERRNO', 'EPERM')[0] ?? '', /must be a number, not a text/);
    assert.deepEqual(rule('SCMP_ACT_TRACE', 65_535), []);
    assert.match(rule('SCMP_ACT_TRACE', 65_536)[0] ?? '', /from 0 to 65535/);
    assert.match(rule('SCMP_ACT_ALLOW', 1)[0] ?? '', /goes with SCMP_ACT_ERRNO and SCMP_ACT_TRACE only/);
    assert.match(
      errorsOf({ defaultAction: 'SCMP_ACT_LOG', defaultErrnoRet: 1 })[0] ?? '',
      /^defaultErrnoRet: goes with/,
    );
    assert.equal(
      judge({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38 }).profile?.defaultOutcome.code,
      38,
    );
  });

  test('has conditions of 64 bits, read exactly', () => {
    const value = (text: string) =>
      `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["execve"],"action":"SCMP_ACT_ALLOW","args":[{"index":5,"op":"SCMP_CMP_EQ","value":${text}}]}]}`;
    for (const text of ['0', '9007199254740993', '18446744073709551615'])
      assert.equal(judge(value(text)).profile?.rules[0]?.args[0]?.value, BigInt(text));
    for (const text of ['18446744073709551616', '-1', '-0', '1.0', '1e3', '1E400'])
      assert.match(
        errorsOf(value(text))[0] ?? '',
        /args\[0\]\.value: must be a whole number from 0 to 18446744073709551615/,
        text,
      );
    for (const text of ['"1"', 'true', '[1]', '{}'])
      assert.match(errorsOf(value(text))[0] ?? '', /args\[0\]\.value: must be a number/, text);
    assert.match(errorsOf(value('null'))[0] ?? '', /args\[0\]\.value: is required/);
  });

  test('has conditions on six arguments, by seven operators', () => {
    const ops = ['NE', 'LT', 'LE', 'EQ', 'GE', 'GT', 'MASKED_EQ'];
    for (const op of ops)
      assert.deepEqual(errorsOf(denying(when('read', 'SCMP_ACT_ALLOW', `SCMP_CMP_${op}`, 1))), []);
    assert.match(
      errorsOf(denying(when('read', 'SCMP_ACT_ALLOW', 'EQ', 1)))[0] ?? '',
      /\.op: "EQ" is not one of/,
    );
    const far = { ...allowing('read'), args: [{ index: 6, op: 'SCMP_CMP_EQ', value: 1 }] };
    assert.match(errorsOf(denying(far))[0] ?? '', /\.index: must be a whole number from 0 to 5/);
    const bare = { ...allowing('read'), args: [{}] };
    assert.deepEqual(
      errorsOf(denying(bare)).map((each) => each.split(':')[0]),
      ['index', 'value', 'op'].map((name) => `syscalls[1].args[0].${name}`),
    );
    assert.match(
      warningsOf(denying(when('read', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 1, 2)))[0] ?? '',
      /valueTwo: counts with SCMP_CMP_MASKED_EQ only/,
    );
  });

  test('names calls that there are, and is told the nearest to others once', () => {
    const warnings = warningsOf(denying(allowing('raed', 'openatt', 'raed', 'what_is_this_call')));
    assert.deepEqual(warnings.slice(0, 4), [
      'syscalls[1].names[0]: "raed" is no system call that is known, and runtimes ignore it; did you mean read?',
      'syscalls[1].names[1]: "openatt" is no system call that is known, and runtimes ignore it; did you mean openat?',
      'syscalls[1].names[3]: "what_is_this_call" is no system call that is known, and runtimes ignore it',
      'syscalls[1].names[2]: raed stands there already',
    ]);
    assert.deepEqual(
      warningsOf(denying(allowing('set_tls', 's390_runtime_instr', 'clone3'))),
      [],
      'of others, too',
    );
    assert.match(errorsOf(denying(allowing(''))).join(), /names\[0\]: is empty/);
    assert.match(
      errorsOf(denying(allowing('mount\0x'))).join(),
      /names\[0\]: "mount\\u0000x" has a zero byte/,
    );
    assert.match(errorsOf(denying({ names: [], action: 'SCMP_ACT_ALLOW' }))[0] ?? '', /at least one call/);
  });

  test('has architectures that go with the node', () => {
    const having = (...architectures: unknown[]) => ({ ...denying(), architectures });
    assert.deepEqual(warningsOf(having('SCMP_ARCH_AARCH64')), [
      'architectures: SCMP_ARCH_X86_64 of this node is not among them; it counts all the same',
    ]);
    assert.match(
      errorsOf(having('SCMP_ARCH_S390X'))[0] ?? '',
      /another order than this node's SCMP_ARCH_X86_64/,
    );
    assert.match(errorsOf(having('x86_64'))[0] ?? '', /"x86_64" is no architecture/);
    assert.match(errorsOf(having(3))[0] ?? '', /architectures\[0\]: must be a text/);
    assert.match(errorsOf({ ...denying(), flags: ['SECCOMP_FILTER_FLAG_NEW'] })[0] ?? '', /flags\[0\]/);
  });

  test('that is not written as the specification has it is refused where readers differ', () => {
    assert.deepEqual(errorsOf('{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_KILL"}'), [
      'defaultAction: stands there twice: which one counts depends on who reads it',
    ]);
    assert.match(
      errorsOf({ ...denying(), Syscalls: [] })[0] ?? '',
      /^Syscalls: must be written syscalls: some runtimes take it for that, others ignore it$/,
    );
    assert.match(
      errorsOf({ ...denying(), '\u017Fyscalls': [] })[0] ?? '',
      /must be written syscalls/,
      'to containerd the long s is an s',
    );
    assert.deepEqual(warningsOf({ ...denying(), linux: {} }), [
      'linux: is no field of a profile: runtimes ignore it',
    ]);
  });

  test('that no container could start with, or that denies nothing, is told', () => {
    assert.deepEqual(warningsOf({ defaultAction: 'SCMP_ACT_KILL' }), [
      ': execve is not allowed: no container can start with it',
    ]);
    assert.deepEqual(warningsOf({ defaultAction: 'SCMP_ACT_LOG' }), [': no call is denied']);
  });
});

describe('a profile in Docker’s form', () => {
  test('is told what containerd leaves out', () => {
    const warnings = warningsOf({
      ...denying({ ...allowing('mount'), comment: '', includes: { caps: ['CAP_SYS_ADMIN'] }, excludes: {} }),
      archMap: [{ architecture: 'SCMP_ARCH_X86_64', subArchitectures: ['SCMP_ARCH_X86'] }],
    });
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0] ?? '',
      /^archMap: is of Docker, and containerd does not read it: .*`architectures`/,
    );
    assert.match(warnings[1] ?? '', /^syscalls\[1\]\.includes: .*whatever its capabilities/);
  });

  test('of the older sort has rules that do nothing, which is an error', () => {
    assert.deepEqual(errorsOf(denying({ name: 'read', action: 'SCMP_ACT_ALLOW', args: null })), [
      'syscalls[1].name: is of Docker, and containerd does not read it: a rule without names does nothing; write names',
    ]);
  });
});

describe('rules for one call', () => {
  const errno = (name: string, code: number) => ({ names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: code });

  test('that contradict each other: the first counts', () => {
    assert.deepEqual(warningsOf(denying(allowing('clone3'), errno('clone3', 38))), [
      'syscalls[2]: contradicts syscalls[1] on clone3: the first one counts',
    ]);
    assert.deepEqual(warningsOf(denying(allowing('read'), allowing('read', 'write'))), [
      'syscalls[2]: names read, which syscalls[1] does already',
    ]);
  });

  test('without conditions override those with some, wherever they stand', () => {
    const one = when('clone', 'SCMP_ACT_KILL', 'SCMP_CMP_EQ', 1);
    assert.deepEqual(warningsOf(denying(one, allowing('clone'))), [
      'syscalls[1]: has no effect on clone: syscalls[2] names it without conditions',
    ]);
  });

  test('of the same conditions and different actions are refused', () => {
    const kill = when('clone', 'SCMP_ACT_KILL', 'SCMP_CMP_EQ', 1);
    const allow = when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 1);
    const expected = [
      'syscalls[2]: contradicts syscalls[1] on clone under the same conditions, which runtimes refuse',
    ];
    assert.deepEqual(errorsOf(denying(kill, allow)), expected);
    assert.deepEqual(
      errorsOf(denying(kill, allow, allowing('clone'))),
      expected,
      'before one without conditions',
    );
    assert.deepEqual(
      errorsOf(denying(allowing('clone'), kill, { ...allow, action: 'SCMP_ACT_TRAP' })),
      [],
      'after it',
    );
    const longer = { ...kill, args: [...kill.args, { index: 1, op: 'SCMP_CMP_EQ', value: 2 }] };
    assert.deepEqual(errorsOf(denying(longer, allow)), expected, 'what another begins with');
    assert.deepEqual(errorsOf(denying(allow, longer)), [], 'the other way round the first counts');
    assert.match(warningsOf(denying(allow, allow))[0] ?? '', /repeats syscalls\[1\] on clone/);
  });

  test('that overlap are told, and so are those that libseccomp takes inexactly', () => {
    const kill = when('clone', 'SCMP_ACT_KILL', 'SCMP_CMP_EQ', 1);
    assert.match(
      warningsOf(denying(kill, when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 2)))[0] ?? '',
      /libseccomp that chooses/,
    );
    const below = when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_LT', 9);
    assert.match(
      warningsOf(denying(below, when('clone', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 20)))[0] ?? '',
      /libseccomp does not always do what they say/,
    );
    assert.deepEqual(warningsOf(denying(below)), [], 'one alone is exact');
    const either = { ...kill, args: [...kill.args, { index: 0, op: 'SCMP_CMP_EQ', value: 2 }] };
    assert.match(warningsOf(denying(either))[0] ?? '', /one of them is enough/);
  });

  test('that do what the default does count nothing', () => {
    assert.deepEqual(
      warningsOf(denying(errno('read', 1), when('read', 'SCMP_ACT_ALLOW', 'SCMP_CMP_EQ', 0))),
      [],
    );
  });
});
