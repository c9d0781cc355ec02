import type { MountFacts } from './contents.ts';
import type { Mount } from './gen/images_pb.js';

/** File systems by criu's numbers; 16 is a file system that is given by name. */
const types: Readonly<Record<number, string>> = {
  1: 'proc',
  2: 'sysfs',
  3: 'devtmpfs',
  4: 'binfmt_misc',
  5: 'tmpfs',
  6: 'devpts',
  7: 'simfs',
  8: 'pstore',
  9: 'securityfs',
  10: 'fusectl',
  11: 'debugfs',
  12: 'cgroup',
  13: 'aufs',
  14: 'mqueue',
  15: 'fuse',
  17: 'overlay',
  18: 'autofs',
  19: 'tracefs',
  23: 'cgroup2',
};
const readOnlyBit = 1;

export function describeMount({ type, typeName, mountpoint, source, root, flags }: Mount): MountFacts {
  return {
    mountpoint,
    type: typeName ?? types[type] ?? 'other',
    source,
    root,
    readOnly: (flags & readOnlyBit) !== 0,
  };
}
