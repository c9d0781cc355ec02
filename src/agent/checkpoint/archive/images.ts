/** The data that is read from each image; the image's name says which image it is. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { describeError } from '../../../base/index.ts';
import type { Budget } from './budget.ts';
import type { ImageKind } from './criu-image.ts';
import { createImageReader, ImageError } from './criu-image.ts';
import { describeFile } from './describe-file.ts';
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
import type { ImageData } from './image-data.ts';
import { limits } from './limits.ts';
import { describeMount } from './mounts.ts';
import type { EntrySink } from './tar-walk.ts';

type Take = (message: Uint8Array, index: number) => void;

interface Image {
  readonly name: RegExp;
  readonly kind: ImageKind;
  /** `number` is the number in the image's name. */
  take(data: ImageData, number: number): Take;
}

/** The size of a memory page on all machines that usually run containers. */
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

/** Returns a sink that reads the image into `data` and never throws; undefined for images that are not read. */
export function createImageSink(name: string, data: ImageData): EntrySink | undefined {
  for (const image of images) {
    const match = image.name.exec(name);
    if (match === null) continue;
    return guardSink(name, data, createCountedSink(image, data, Number(match[1] ?? 0)));
  }
  return undefined;
}

function createCountedSink({ kind, take }: Image, data: ImageData, number: number): EntrySink {
  const taken = take(data, number);
  return createImageReader(kind, (message, index) => {
    refuseMore(data.budget, 'messages', limits.messages);
    taken(message, index);
  });
}

/** Throws to end the image: even skipping the rest would take time. */
function refuseMore(budget: Budget, what: string, limit: number): void {
  if (!budget.admit(what, limit)) throw new ImageError(`there are too many ${what}`);
}

function guardSink(name: string, { notes }: ImageData, reader: EntrySink): EntrySink {
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

const maxImageVersion = 2;

function takeInventory(data: ImageData): Take {
  return (message) => {
    data.imageVersion = decode(InventorySchema, message).version;
    if (data.imageVersion <= maxImageVersion) return;
    data.notes.add(
      `the images are of version ${data.imageVersion}; versions up to ${maxImageVersion} are known`,
    );
  };
}

function takeTree({ tree, budget }: ImageData): Take {
  return (message) => {
    const { pid, ppid, threads } = decode(TreeEntrySchema, message);
    if (budget.admit('processes', limits.processes)) tree.set(pid, { ppid, threads: threads.length });
  };
}

function takeCore(data: ImageData, id: number): Take {
  return (message, index) => {
    if (index > 0) return;
    const { machine, task, ids } = decode(CoreSchema, message);
    data.machine ||= machine;
    if (task !== undefined && data.budget.admit('main threads', limits.processes)) {
      data.tasks.set(id, { comm: data.budget.keepText(task.comm.slice(0, 64)), state: task.state });
    }
    if (task !== undefined && ids !== undefined) setTable(data, id, ids.files);
  };
}

function takeIds(data: ImageData, pid: number): Take {
  return (message) => setTable(data, pid, decode(IdsSchema, message).files);
}

function setTable({ tables, budget }: ImageData, pid: number, table: number): void {
  if (tables.has(pid) || budget.admit('tables of descriptors', limits.processes)) tables.set(pid, table);
}

const areasField = 14;
const heapBit = 1 << 5;
const anonymousSharedBit = 1 << 8;

/** Decodes the areas one by one: decoded together they are many times larger than the message. */
function takeMemory({ memory, budget, notes }: ImageData, pid: number): Take {
  return (message) => {
    if (!budget.admit('memories', limits.processes)) return;
    let [virtualBytes, heapBytes, areas] = [0, 0, 0];
    const shared = new Set<number>();
    visitNested(message, areasField, (bytes) => {
      refuseMore(budget, 'areas of memory', limits.areas);
      const { start, end, status, shmid } = decode(AreaSchema, bytes);
      const size = Number(end - start);
      if (size < 0) return notes.add(`mm-${pid}.img has an area of memory that ends before it begins`);
      [virtualBytes, areas] = [virtualBytes + size, areas + 1];
      if ((status & heapBit) !== 0) heapBytes += size;
      if ((status & anonymousSharedBit) === 0) return;
      if (budget.admit('areas of shared memory', limits.openFiles)) shared.add(Number(shmid));
    });
    memory.set(pid, { virtualBytes, heapBytes, areas, shared });
  };
}

function visitNested(message: Uint8Array, wanted: number, use: (bytes: Uint8Array) => void): void {
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
    // older versions have no flags: their pages are either present or in an earlier dump
    const flags = run.flags ?? (run.inParent ? 1 : presentBit);
    if ((flags & presentBit) === 0 && (flags & elsewhereBits) !== 0) return;
    pages += run.pages === undefined ? run.oldPages : Number(run.pages);
    bytesOf.set(id, pages * pageBytes);
  };
}

function takeDescriptors({ descriptors, budget }: ImageData, table: number): Take {
  const found: { fd: number; file: number; type: number }[] = [];
  return (message) => {
    const { fd, file, type } = decode(DescriptorSchema, message);
    if (!budget.admit('descriptors', limits.openFiles)) return;
    found.push({ fd, file, type });
    descriptors.set(table, found);
  };
}

function takeFiles({ files, budget }: ImageData): Take {
  return (message) => {
    const file = decode(FileSchema, message);
    if (!budget.admit('open files', limits.openFiles)) return;
    const described = describeFile(file);
    files.set(file.id, { ...described, name: budget.keepText(described.name) });
  };
}

function takeMounts({ mounts, budget }: ImageData): Take {
  return (message) => {
    const mount = describeMount(decode(MountSchema, message));
    if (!budget.admit('mounts', limits.mounts)) return;
    const { mountpoint, type, source, root } = mount;
    const [kept, keptRoot] = [budget.keepText(mountpoint), budget.keepText(root)];
    mounts.push({
      ...mount,
      mountpoint: kept,
      type: budget.keepText(type),
      source: budget.keepText(source),
      root: keptRoot,
    });
  };
}
