export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const none: Counts = { passed: 0, failed: 0, skipped: 0 };

export function sum(all: readonly Counts[]): Counts {
  return all.reduce(
    (total, each) => ({
      passed: total.passed + each.passed,
      failed: total.failed + each.failed,
      skipped: total.skipped + each.skipped,
    }),
    none,
  );
}

/** The line that a whole run ends with; programs that read the results rely on its form. */
export function formatCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Whether a run may be called good: something ran, nothing failed, and where nobody watches (`strict`)
 * nothing was skipped either.
 */
export function isGreen({ passed, failed, skipped }: Counts, strict: boolean): boolean {
  return passed > 0 && failed === 0 && (skipped === 0 || !strict);
}
