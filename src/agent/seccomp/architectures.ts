/*
 * The architectures of the OCI runtime specification, as of libseccomp 2.6: the column of the table of system calls, whether
 * the most significant byte comes first, and whether runc (1.4) takes it.
 */

export interface ArchitectureFacts {
  /** Unset when no table of its system calls is known. */
  readonly column?: string;
  readonly bigEndian?: true;
  readonly unknownToRunc?: true;
}

const facts = {
  SCMP_ARCH_X86: { column: 'x86' },
  SCMP_ARCH_X86_64: { column: 'x86_64' },
  SCMP_ARCH_X32: { column: 'x32' },
  SCMP_ARCH_ARM: { column: 'arm' },
  SCMP_ARCH_AARCH64: { column: 'aarch64' },
  SCMP_ARCH_LOONGARCH64: { column: 'loongarch64' },
  SCMP_ARCH_M68K: { column: 'm68k', bigEndian: true, unknownToRunc: true },
  SCMP_ARCH_MIPS: { column: 'mips', bigEndian: true },
  SCMP_ARCH_MIPS64: { column: 'mips64', bigEndian: true },
  SCMP_ARCH_MIPS64N32: { column: 'mips64n32', bigEndian: true },
  SCMP_ARCH_MIPSEL: { column: 'mips' },
  SCMP_ARCH_MIPSEL64: { column: 'mips64' },
  SCMP_ARCH_MIPSEL64N32: { column: 'mips64n32' },
  SCMP_ARCH_PARISC: { column: 'parisc', bigEndian: true, unknownToRunc: true },
  SCMP_ARCH_PARISC64: { column: 'parisc64', bigEndian: true, unknownToRunc: true },
  SCMP_ARCH_PPC: { column: 'ppc', bigEndian: true },
  SCMP_ARCH_PPC64: { column: 'ppc64', bigEndian: true },
  SCMP_ARCH_PPC64LE: { column: 'ppc64' },
  SCMP_ARCH_RISCV64: { column: 'riscv64' },
  SCMP_ARCH_S390: { bigEndian: true },
  SCMP_ARCH_S390X: { column: 's390x', bigEndian: true },
  SCMP_ARCH_SH: { column: 'sh', unknownToRunc: true },
  SCMP_ARCH_SHEB: { column: 'sh', bigEndian: true, unknownToRunc: true },
} as const satisfies Record<string, ArchitectureFacts>;

export type Architecture = keyof typeof facts;

export const architectures: ReadonlyMap<string, ArchitectureFacts> = new Map<string, ArchitectureFacts>(
  Object.entries(facts),
);

const isArchitecture = (name: string): name is Architecture => architectures.has(name);

/** By the name in Node.js. */
const byProcess: Readonly<Record<string, Architecture>> = {
  arm: 'SCMP_ARCH_ARM',
  arm64: 'SCMP_ARCH_AARCH64',
  ia32: 'SCMP_ARCH_X86',
  loong64: 'SCMP_ARCH_LOONGARCH64',
  mips: 'SCMP_ARCH_MIPS',
  mipsel: 'SCMP_ARCH_MIPSEL',
  ppc64: 'SCMP_ARCH_PPC64LE',
  riscv64: 'SCMP_ARCH_RISCV64',
  s390x: 'SCMP_ARCH_S390X',
  x64: 'SCMP_ARCH_X86_64',
};

/** The architecture of this machine; `from` is the name in Node.js. */
export function nodeArchitecture(from: string = process.arch): Architecture {
  const found = Object.hasOwn(byProcess, from) ? byProcess[from] : undefined;
  if (found === undefined) throw new Error(`no seccomp architecture is known for ${from}`);
  return found;
}

/** Reads `SCMP_ARCH_X86_64`, `x86_64`, `amd64` and the like; undefined for an unknown name. */
export function readArchitecture(text: string): Architecture | undefined {
  const common: Readonly<Record<string, Architecture>> = {
    ...byProcess,
    amd64: 'SCMP_ARCH_X86_64',
    i386: 'SCMP_ARCH_X86',
  };
  if (Object.hasOwn(common, text)) return common[text];
  const name = text.startsWith('SCMP_ARCH_') ? text : `SCMP_ARCH_${text.toUpperCase()}`;
  return isArchitecture(name) ? name : undefined;
}
