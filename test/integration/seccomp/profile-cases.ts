import { randomFrom } from '../../support/repetition.ts';
/**
 * Profiles on which the judge and a real runtime are compared. Those that are made by chance are the same in each run; the
 * hand-made ones each have one fault, or something that looks like one.
 */
export interface ProfileCase {
  /** The file's content. */
  readonly text: string;
  /** The runtime takes it and the judge does not, and why the judge is right. */
  readonly stricter?: string;
  /** The judge takes it and this runtime does not, and why another one or another machine may. */
  readonly depends?: string;
}

const allow = 'SCMP_ACT_ALLOW';
const errno = 'SCMP_ACT_ERRNO';
const eq = { index: 0, value: 1, op: 'SCMP_CMP_EQ' };

const json = (value: unknown): string => JSON.stringify(value);
const rule = (more: object): string =>
  json({ defaultAction: allow, syscalls: [{ names: ['mkdir', 'mkdirat'], action: errno, ...more }] });
const whole = (more: object): string => json({ defaultAction: allow, ...more });

export const handMade: readonly ProfileCase[] = [
  ...[rule({}), rule({ errnoRet: 0 }), rule({ errnoRet: 4094 }), rule({ args: [eq] }), rule({ args: null })],
  ...[
    rule({ args: [{ ...eq, valueTwo: 2, op: 'SCMP_CMP_MASKED_EQ' }] }),
    rule({ args: [eq, { ...eq, index: 5 }] }),
  ],
  ...['SCMP_ACT_KILL', 'SCMP_ACT_KILL_PROCESS', 'SCMP_ACT_LOG', 'SCMP_ACT_TRAP'].map((action) =>
    rule({ action }),
  ),
  ...[
    whole({}),
    whole({ syscalls: null }),
    whole({ syscalls: [] }),
    whole({ architectures: ['SCMP_ARCH_X86_64'] }),
  ],
  whole({ architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'] }),
  rule({ names: ['mkdir', 'no_such_syscall'] }),
  whole({
    syscalls: [
      { names: ['mkdir'], action: errno },
      { names: ['mkdir'], action: 'SCMP_ACT_LOG' },
    ],
  }),
  '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":18446744073709551615,"op":"SCMP_CMP_EQ"}]}]}',
].map((text) => ({ text }));

export const refused: readonly ProfileCase[] = [
  ...[
    '7',
    '[]',
    '"SCMP"',
    '{',
    '',
    '// note\n{"defaultAction":"SCMP_ACT_ALLOW"}',
    `${whole({})} x`,
    `\ufeff${whole({})}`,
  ],
  ...[json({ defaultAction: 'SCMP_ACT_NOPE' }), json({ defaultAction: 'SCMP_ACT_NOTIFY' })],
  ...[
    rule({ action: 'SCMP_ACT_NOPE' }),
    rule({ action: undefined }),
    rule({ action: 'SECCOMP_RET_USER_NOTIF' }),
  ],
  ...[rule({ names: ['write'], action: 'SCMP_ACT_NOTIFY' }), rule({ names: 'mkdir' }), rule({ names: [''] })],
  ...[
    rule({ errnoRet: -1 }),
    rule({ errnoRet: 4095 }),
    rule({ errnoRet: 4096 }),
    rule({ errnoRet: 5000 }),
    rule({ errnoRet: 1.5 }),
  ],
  ...[
    rule({ args: [{ ...eq, index: 6 }] }),
    rule({ args: [{ ...eq, op: 'NOPE' }] }),
    rule({ args: [{ ...eq, value: -1 }] }),
  ],
  ...[
    rule({ args: [{ index: 0, value: 1 }] }),
    whole({ syscalls: 'x' }),
    whole({ architectures: ['SCMP_ARCH_NOPE'] }),
  ],
  json({ defaultAction: errno, defaultErrnoRet: 5000 }),
  '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":18446744073709551616,"op":"SCMP_CMP_EQ"}]}]}',
].map((text) => ({ text }));

const noErrno = 'the OCI runtime specification wants an errno for an action that has none to be refused';
const unconfined = 'the runtime starts the container without any filter';
export const stricter: readonly ProfileCase[] = [
  { text: '{}', stricter: unconfined },
  { text: 'null', stricter: unconfined },
  { text: json({ defaultAction: '' }), stricter: unconfined },
  {
    text: rule({ errnoRet: 65_536 }),
    stricter: 'cut to 16 bits the errno is 0: the call is told to have succeeded',
  },
  { text: rule({ action: 'SCMP_ACT_KILL', errnoRet: 1 }), stricter: noErrno },
  { text: whole({ defaultErrnoRet: 1 }), stricter: noErrno },
  {
    text: '{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_LOG"}',
    stricter: 'which of both counts depends on the reader',
  },
  {
    text: json({ DefaultAction: allow }),
    stricter: 'only readers written in Go take names in other letters',
  },
  {
    text: whole({ syscalls: [], '\u017Fyscalls': [] }),
    stricter: 'readers written in Go take the long s for an s, too, and this one for the list of rules',
  },
  {
    text: rule({ names: ['mkdir\0'] }),
    stricter: 'libseccomp takes what stands before the zero byte',
  },
];

export const depending: readonly ProfileCase[] = [
  { text: whole({ flags: ['SECCOMP_FILTER_FLAG_LOG'] }), depends: 'runc takes flags from 1.2 on' },
  {
    text: rule({ action: 'SCMP_ACT_NOTIFY', listenerPath: undefined }).replace(
      '"syscalls"',
      '"listenerPath":"/run/nobody.sock","syscalls"',
    ),
    depends: 'nobody listens at listenerPath',
  },
];

const callNames =
  'mkdir mkdirat chmod acct swapon swapoff reboot mount umount2 ptrace kexec_load init_module'.split(' ');
const actionNames = [
  errno,
  'SCMP_ACT_LOG',
  'SCMP_ACT_TRAP',
  'SCMP_ACT_KILL_PROCESS',
  'SCMP_ACT_KILL_THREAD',
  allow,
];
const operators = ['NE', 'LT', 'LE', 'EQ', 'GE', 'GT', 'MASKED_EQ'].map((each) => `SCMP_CMP_${each}`);

/** One of them makes a rule that no runtime takes. */
const flaws: readonly object[] = [
  { action: 'SCMP_ACT_DENY' },
  { action: errno, errnoRet: 4095 },
  { action: errno, errnoRet: -1 },
  { args: [{ ...eq, index: 6 }] },
  { args: [{ ...eq, op: 'SCMP_CMP_IN' }] },
  { args: [{ ...eq, value: '1' }] },
  { names: [''] },
  { names: 'acct' },
];

/** `count` profiles of rules that no workload of the tests minds; about every third has a flaw. */
export function byChance(count: number): ProfileCase[] {
  const random = randomFrom(20_251_122);
  const one = <T>(list: readonly T[]): T => {
    const found = list[Math.floor(random() * list.length)];
    if (found === undefined) throw new Error('nothing to choose from');
    return found;
  };
  const several = <T>(most: number, make: () => T): T[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, make);
  const argument = () => ({
    index: Math.floor(random() * 6),
    value: Math.floor(random() * 2 ** 40),
    valueTwo: Math.floor(random() * 100),
    op: one(operators),
  });
  const made = () => {
    // one action for a name, or the later rule would contradict the earlier
    const syscalls = callNames
      .filter(() => random() < 0.4)
      .map((name) => {
        const action = one(actionNames);
        const arguments_ = several(3, argument);
        return {
          names: [name],
          action,
          ...(action === errno && random() < 0.7 ? { errnoRet: Math.floor(random() * 4095) } : {}),
          ...(arguments_.length === 0 ? {} : { args: arguments_ }),
        };
      });
    return {
      defaultAction: one([allow, allow, 'SCMP_ACT_LOG']),
      ...(random() < 0.3 ? { architectures: ['SCMP_ARCH_X86_64'] } : {}),
      syscalls,
    };
  };
  return Array.from({ length: count }, () => {
    const { syscalls, ...rest } = made();
    const flaw = random() < 0.35 ? [{ names: ['acct'], action: errno, ...one(flaws) }] : [];
    return { text: json({ ...rest, syscalls: [...syscalls, ...flaw] }) };
  });
}
