import type { Remarks } from './remarks.ts';
import type { SeccompProfile } from './types.ts';

/**
 * The rules of SCMP_ACT_NOTIFY (specification 2.8): somebody must listen, and not to write, by which runc itself hands
 * over the descriptor that the listener is to read from.
 */
export function checkNotify(profile: SeccompProfile, remarks: Remarks): void {
  const { rules, listenerPath = '', listenerMetadata } = profile;
  const notifying = rules.filter(({ outcome }) => outcome.action === 'SCMP_ACT_NOTIFY');
  for (const { path, names } of notifying) {
    const index = names.indexOf('write');
    if (index >= 0)
      remarks.error(
        `${path}.names[${index}]`,
        'SCMP_ACT_NOTIFY cannot be used for write: the container would hang at its start',
      );
  }
  if (notifying.length > 0 && listenerPath === '')
    remarks.error(
      'listenerPath',
      `is required: ${notifying[0]?.path} notifies, and there is nobody to notify`,
    );
  if (listenerPath !== '' && !listenerPath.startsWith('/'))
    remarks.error('listenerPath', 'must be an absolute path of a unix socket');
  if (listenerPath !== '' && notifying.length === 0)
    remarks.warn('listenerPath', 'has no effect: no rule notifies');
  if (listenerMetadata !== undefined && listenerMetadata !== '' && listenerPath === '')
    remarks.error('listenerMetadata', 'goes with listenerPath only');
}
