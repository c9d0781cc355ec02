import type { Logger } from '../../base/index.ts';
import type { ProfileChange } from './types.ts';

/** What is wrong with a profile is a warning whoever names it: it has been put there for somebody. */
export function logChange(log: Logger, { path, before, after }: ProfileChange, isInUse: boolean): void {
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
