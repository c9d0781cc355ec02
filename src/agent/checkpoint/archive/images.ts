/** What is taken from which image, by the image's name. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { describeError } from '../../../base/index.ts';
import type { Budget } from './budget.ts';
import type { ImageKind } from './criu-image.ts';
import { ImageError, readImage } from './criu-image.ts';
import { describeFile } from './file-names.ts';
import {
  AreaSchema,
  CoreSchema,
  DescriptorSchema,
  FileSchema,
  IdsSchema,
  InventorySchema,
  MountSchema,
  PagemapHeadSchema,
  RunSchema,
  TreeEntrySchema,
} from './gen/images_pb.js';
import type { Harvest } from './harvest.ts';
import { limits } from './limits.ts';
import { describeMount } from './mounts.ts';
import type { EntrySink } from './tar-walk.ts';

type Take = (message: Uint8Array, index: number) => void;

interface Image {
  readonly name: RegExp;
  readonly kind: ImageKind;
  /** `number` is the one in the image's name. */
  take(harvest: Harvest, number: number): Take;
}

/** A page of memory on all machines that containers are usual on. */
const pageBytes = 4096;

const decode = <D extends DescMessage>(schema: D, message: Uint8Array): MessageShape<D> =>
  fromBinary(schema, message, { readUnknownFields: false });

const images: readonly Image[] = [
  { name: /^inventory\.img$/, kind: 'inventory', take: takeInventory },
  { name: /^pstree\.img$/, kind: 'tree', take: takeTree },
  { name: /^core-(\d{1,10})\.img$/, kind: 'core', take: takeCore },
  { name: /^ids-(\d{1,10})\.img$/, kind: 'ids', take: takeIds },
  { name: /^mm-(\d{1,10})\.img$/, kind: 'memory', take: takeMemory },
  { name: /^pagemap-(\d{1,10})\.img$/, kind: 'pagemap', take: (to, pid) => takePages(to.privateBytes, pid) },
  {
    name: /^pagemap-shmem-(\d{1,20})\.img$/,
    kind: 'pagemap',
    take: (to, shmid) => takePages(to.sharedBytes, shmid),
  },
  { name: /^fdinfo-(\d{1,10})\.img$/, kind: 'descriptors', take: takeDescriptors },
  { name: /^files\.img$/, kind: 'files', take: takeFiles },
  { name: /^mountpoints-(\d{1,10})\.img$/, kind: 'mounts', take: takeMounts },
];

/** Reads an image into the harvest; undefined for images that nothing is taken from. Never throws. */
export function imageSink(name: string, harvest: Harvest): EntrySink | undefined {
  for (const image of images) {
    const match = image.name.exec(name);
    if (match === null) continue;
    return guarded(name, harvest, counted(image, harvest, Number(match[1] ?? 0)));
  }
  return undefined;
}

function counted({ kind, take }: Image, harvest: Harvest, number: number): EntrySink {
  const taken = take(harvest, number);
  return readImage(kind, (message, index) => {
    refuseMore(harvest.budget, 'messages', limits.messages);
    taken(message, index);
  });
}

/** Ends the image: what comes takes time even when it is passed over. */
function refuseMore(budget: Budget, what: string, limit: number): void {
  if (!budget.room(what, limit)) throw new ImageError(`there are too many ${what}`);
}

function guarded(name: string, { notes }: Harvest, reader: EntrySink): EntrySink {
  let failed = false;
  const guard = (work: () => void): void => {
    if (failed) return;
    try {
      work();
    } catch (error) {
      failed = true;
      notes.add(`${name} is not understood: ${describeError(error)}`);
    }
  };
  return { push: (chunk) => guard(() => reader.push(chunk)), end: () => guard(() => reader.end()) };
}

const newestVersion = 2;

function takeInventory(harvest: Harvest): Take {
  return (message) => {
    harvest.imageVersion = decode(InventorySchema, message).version;
    if (harvest.imageVersion <= newestVersion) return;
    harvest.notes.add(
      `the images are of version ${harvest.imageVersion}; versions up to ${newestVersion} are known`,
    );
  };
}

function takeTree({ tree, budget }: Harvest): Take {
  return (message) => {
    const { pid, ppid, threads } = decode(TreeEntrySchema, message);
    if (budget.room('processes', limits.processes)) tree.set(pid, { ppid, threads: threads.length });
  };
}

function takeCore(harvest: Harvest, id: number): Take {
  return (message, index) => {
    if (index > 0) return;
    const { machine, task, ids } = decode(CoreSchema, message);
    harvest.machine ||= machine;
    if (task !== undefined && harvest.budget.room('main threads', limits.processes)) {
      harvest.tasks.set(id, { comm: harvest.budget.text(task.comm.slice(0, 64)), state: task.state });
    }
    if (task !== undefined && ids !== undefined) setTable(harvest, id, ids.files);
  };
}

function takeIds(harvest: Harvest, pid: number): Take {
  return (message) => setTable(harvest, pid, decode(IdsSchema, message).files);
}

function setTable({ tables, budget }: Harvest, pid: number, table: number): void {
  if (tables.has(pid) || budget.room('tables of descriptors', limits.processes)) tables.set(pid, table);
}

const areasField = 14;
const heapBit = 1 << 5;
const anonymousSharedBit = 1 << 8;

/** The areas are counted one by one: all together are many times larger than the message. */
function takeMemory({ memory, budget, notes }: Harvest, pid: number): Take {
  return (message) => {
    if (!budget.room('memories', limits.processes)) return;
    let [virtualBytes, heapBytes, areas] = [0, 0, 0];
    const shared = new Set<number>();
    forEachNested(message, areasField, (bytes) => {
      refuseMore(budget, 'areas of memory', limits.areas);
      const { start, end, status, shmid } = decode(AreaSchema, bytes);
      const size = Number(end - start);
      if (size < 0) return notes.add(`mm-${pid}.img has an area of memory that ends before it begins`);
      [virtualBytes, areas] = [virtualBytes + size, areas + 1];
      if ((status & heapBit) !== 0) heapBytes += size;
      if ((status & anonymousSharedBit) === 0) return;
      if (budget.room('areas of shared memory', limits.openFiles)) shared.add(Number(shmid));
    });
    memory.set(pid, { virtualBytes, heapBytes, areas, shared });
  };
}

function forEachNested(message: Uint8Array, wanted: number, use: (bytes: Uint8Array) => void): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === wanted && wire === WireType.LengthDelimited) use(reader.bytes());
    else reader.skip(wire, field);
  }
}

const presentBit = 4;
const elsewhereBits = 1 | 2;

function takePages(bytesOf: Map<number, number>, id: number): Take {
  let pages = 0;
  return (message, index) => {
    if (index === 0) return void decode(PagemapHeadSchema, message);
    const run = decode(RunSchema, message);
    // versions before the bits have only pages that are there, or in an earlier dump
    const flags = run.flags ?? (run.inParent ? 1 : presentBit);
    if ((flags & presentBit) === 0 && (flags & elsewhereBits) !== 0) return;
    pages += run.pages === undefined ? run.oldPages : Number(run.pages);
    bytesOf.set(id, pages * pageBytes);
  };
}

function takeDescriptors({ descriptors, budget }: Harvest, table: number): Take {
  const found: { fd: number; file: number; type: number }[] = [];
  return (message) => {
    const { fd, file, type } = decode(DescriptorSchema, message);
    if (!budget.room('descriptors', limits.openFiles)) return;
    found.push({ fd, file, type });
    descriptors.set(table, found);
  };
}

function takeFiles({ files, budget }: Harvest): Take {
  return (message) => {
    const file = decode(FileSchema, message);
    if (!budget.room('open files', limits.openFiles)) return;
    const described = describeFile(file);
    files.set(file.id, { ...described, name: budget.text(described.name) });
  };
}

function takeMounts({ mounts, budget }: Harvest): Take {
  return (message) => {
    const mount = describeMount(decode(MountSchema, message));
    if (!budget.room('mounts', limits.mounts)) return;
    const { mountpoint, type, source, root } = mount;
    const [kept, keptRoot] = [budget.text(mountpoint), budget.text(root)];
    mounts.push({
      ...mount,
      mountpoint: kept,
      type: budget.text(type),
      source: budget.text(source),
      root: keptRoot,
    });
  };
}
