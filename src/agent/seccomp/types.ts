/** What happens to a call; `SCMP_ACT_KILL` of a file is told as `SCMP_ACT_KILL_THREAD`, which it is. */
export type SeccompAction =
  | 'SCMP_ACT_ALLOW'
  | 'SCMP_ACT_ERRNO'
  | 'SCMP_ACT_KILL_PROCESS'
  | 'SCMP_ACT_KILL_THREAD'
  | 'SCMP_ACT_LOG'
  | 'SCMP_ACT_NOTIFY'
  | 'SCMP_ACT_TRACE'
  | 'SCMP_ACT_TRAP';

/** An action with what it answers. */
export interface Outcome {
  readonly action: SeccompAction;
  /** Of SCMP_ACT_ERRNO the errno, of SCMP_ACT_TRACE what the tracer is told; unset for the others. */
  readonly code?: number;
}

export type ArgOperator =
  | 'SCMP_CMP_EQ'
  | 'SCMP_CMP_GE'
  | 'SCMP_CMP_GT'
  | 'SCMP_CMP_LE'
  | 'SCMP_CMP_LT'
  | 'SCMP_CMP_MASKED_EQ'
  | 'SCMP_CMP_NE';

/** A condition on one argument of a call; the values are unsigned with 64 bits. */
export interface ArgCondition {
  /** 0 to 5. */
  readonly index: number;
  readonly op: ArgOperator;
  /** With SCMP_CMP_MASKED_EQ the mask. */
  readonly value: bigint;
  /** With SCMP_CMP_MASKED_EQ what must be left under the mask; else it counts nothing. */
  readonly valueTwo: bigint;
}

export interface SeccompRule {
  /** Where it stands, such as `syscalls[3]`. */
  readonly path: string;
  readonly names: readonly string[];
  readonly outcome: Outcome;
  readonly args: readonly ArgCondition[];
}

/** A profile as the OCI runtime specification has it (linux.seccomp), with its defaults filled in. */
export interface SeccompProfile {
  readonly defaultOutcome: Outcome;
  /** As stated; the node's own counts always. */
  readonly architectures: readonly string[];
  readonly flags: readonly string[];
  readonly listenerPath?: string;
  readonly listenerMetadata?: string;
  readonly rules: readonly SeccompRule[];
}

/** A fault or a doubt, and where in the file it is. */
export interface Remark {
  /** Such as `syscalls[3].names[0]`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** What is to be said of a file's content. It is valid when there are no errors. */
export interface Judgement {
  /** `sha256:` and 64 digits, of the bytes. */
  readonly digest: string;
  /** Set where there are no errors. */
  readonly profile?: SeccompProfile;
  /** Runtimes refuse it, or it would not do what it says. */
  readonly errors: readonly Remark[];
  /** Runtimes take it, and it may do something else than was meant. */
  readonly warnings: readonly Remark[];
}
