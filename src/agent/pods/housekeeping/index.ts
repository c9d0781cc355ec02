/** What pods leave behind on the disk: folders, mounts and logs. */
export { Housekeeper, type HousekeeperOptions, type Leftover } from './housekeeper.ts';
export { mountsBelow, readMountTable, unmount } from './mount-points.ts';
export { InTheWayError, type RemovalScope, removeTree } from './remove-tree.ts';
