import type { Clock, Logger } from '../../../base/index.ts';
import { createTokenBuckets } from '../../../base/index.ts';
import type { ProfileChange } from './types.ts';

/** Users who create pods can name any number of profiles: at most 100 lines at once, then one a second. */
const lineRate = { burst: 100, refillMs: 1000, maxKeys: 1 };

export type ChangeLog = (change: ProfileChange, isInUse: boolean) => void;

/** Logs changes at a limited rate; the next line has the number of lines left out. */
export function createChangeLog(log: Logger, clock: Clock): ChangeLog {
  const lines = createTokenBuckets(lineRate);
  let leftOut = 0;
  return (change, isInUse) => {
    if (!lines.take('', clock.monotonicMs())) {
      leftOut += 1;
      return;
    }
    logChange(leftOut === 0 ? log : log.child({ leftOut }), change, isInUse);
    leftOut = 0;
  };
}

/** A faulty profile is logged as a warning even when no pod names it: the operator put it there for use. */
function logChange(log: Logger, { path, before, after }: ProfileChange, isInUse: boolean): void {
  const fields = { profile: path, inUse: isInUse };
  if (after === undefined) {
    log.info(fields, 'a seccomp profile is gone');
    return;
  }
  switch (after.kind) {
    case 'valid':
      log.debug({ ...fields, digest: after.digest }, 'a seccomp profile can be used');
      return;
    case 'invalid': {
      const [first] = after.errors;
      const why = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? '');
      log.warn({ ...fields, faults: after.errors.length }, `a seccomp profile is not valid: ${why}`);
      return;
    }
    case 'unreadable':
      log.warn(fields, `a seccomp profile cannot be used: ${after.reason}`);
      return;
    case 'missing':
      log.warn(fields, `a seccomp profile that pods name is ${before === undefined ? 'missing' : 'gone'}`);
  }
}
