/** In the order of their numbers in the CRI, from 1 on. */
const names = [
  ...[
    'ABRT',
    'ALRM',
    'BUS',
    'CHLD',
    'CLD',
    'CONT',
    'FPE',
    'HUP',
    'ILL',
    'INT',
    'IO',
    'IOT',
    'KILL',
    'PIPE',
    'POLL',
  ],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG'],
  ...['USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN'],
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${14 - index}`),
  'RTMAX',
];

/** Such as `SIGTERM`; undefined for a number of the CRI that names none. */
export function stopSignalName(number: number): string | undefined {
  const name = names[number - 1];
  return name === undefined ? undefined : `SIG${name}`;
}

/** The number of the CRI of a signal such as `SIGTERM`; undefined for one that is not known. */
export function stopSignalNumber(name: string): number | undefined {
  const index = name.startsWith('SIG') ? names.indexOf(name.slice(3)) : -1;
  return index < 0 ? undefined : index + 1;
}
