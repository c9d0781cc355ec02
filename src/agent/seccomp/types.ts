/** What happens to a call; `SCMP_ACT_KILL` of a file is normalized to `SCMP_ACT_KILL_THREAD`, its meaning. */
export type SeccompAction =
  | 'SCMP_ACT_ALLOW'
  | 'SCMP_ACT_ERRNO'
  | 'SCMP_ACT_KILL_PROCESS'
  | 'SCMP_ACT_KILL_THREAD'
  | 'SCMP_ACT_LOG'
  | 'SCMP_ACT_NOTIFY'
  | 'SCMP_ACT_TRACE'
  | 'SCMP_ACT_TRAP';

/** An action with its code. */
export interface Outcome {
  readonly action: SeccompAction;
  /** The errno of SCMP_ACT_ERRNO, or the value that the tracer gets of SCMP_ACT_TRACE; unset for the others. */
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

/** A condition on one argument of a call; values are unsigned 64-bit numbers. */
export interface ArgCondition {
  /** 0 to 5. */
  readonly index: number;
  readonly op: ArgOperator;
  /** The value to compare with; for SCMP_CMP_MASKED_EQ the mask. */
  readonly value: bigint;
  /** For SCMP_CMP_MASKED_EQ the value that must remain under the mask; ignored for the others. */
  readonly valueTwo: bigint;
}

export interface SeccompRule {
  /** Its place in the file, such as `syscalls[3]`. */
  readonly path: string;
  readonly names: readonly string[];
  readonly outcome: Outcome;
  readonly args: readonly ArgCondition[];
}

/** A profile as in the OCI runtime specification (linux.seccomp), with defaults filled in. */
export interface SeccompProfile {
  readonly defaultOutcome: Outcome;
  /** As in the file; the node's own architecture always applies too. */
  readonly architectures: readonly string[];
  readonly flags: readonly string[];
  readonly listenerPath?: string;
  readonly listenerMetadata?: string;
  readonly rules: readonly SeccompRule[];
}

/** An error or a warning, and its place in the file. */
export interface Remark {
  /** Such as `syscalls[3].names[0]`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** The result of validating a file's content. It is valid when there are no errors. */
export interface Judgement {
  /** `sha256:` and 64 hexadecimal digits, of the bytes. */
  readonly digest: string;
  /** Set when there are no errors. */
  readonly profile?: SeccompProfile;
  /** Runtimes refuse the file, or it would not do what it says. */
  readonly errors: readonly Remark[];
  /** Runtimes accept the file, but it may not do what was meant. */
  readonly warnings: readonly Remark[];
}
