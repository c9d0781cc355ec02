/** Archives of checkpoints, made of messages. */
import { gzipSync } from 'node:zlib';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { create, toBinary } from '@bufbuild/protobuf';
import { Header } from 'tar';
import { magics } from '../../../../../src/agent/checkpoint/archive/criu-image.ts';
import {
  AreaSchema,
  CoreSchema,
  DescriptorSchema,
  FileSchema,
  InventorySchema,
  MountSchema,
  PagemapHeadSchema,
  RunSchema,
  TreeEntrySchema,
} from '../../../../../src/agent/checkpoint/archive/gen/images_pb.js';

export interface TarFile {
  name: string;
  bytes: Uint8Array;
  /** What the header says, when that is not the truth. */
  size?: number;
  type?: 'File' | 'SymbolicLink' | 'ExtendedHeader';
}

const block = 512;

export function tar(files: readonly TarFile[]): Buffer {
  return Buffer.concat([...files.flatMap(tarParts), Buffer.alloc(2 * block)]);
}

export function tarParts({ name, bytes, size = bytes.length, type = 'File' }: TarFile): Buffer[] {
  const header = Buffer.alloc(block);
  const linkpath = type === 'SymbolicLink' ? { linkpath: '/etc/passwd' } : {};
  new Header({ path: name, size, mode: 0o600, mtime: new Date(0), type, ...linkpath }).encode(header, 0);
  return [header, Buffer.from(bytes), Buffer.alloc((block - (bytes.length % block)) % block)];
}

export const text = (name: string, content: string): TarFile => ({ name, bytes: Buffer.from(content) });
export const json = (name: string, content: unknown): TarFile => text(name, JSON.stringify(content));

const word = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};

export const commonMagic = 0x54564319;

/** An image of messages as they are. */
export function rawImage(name: string, kind: keyof typeof magics, messages: readonly Uint8Array[]): TarFile {
  const heads = kind === 'inventory' ? [word(magics[kind])] : [word(commonMagic), word(magics[kind])];
  const bytes = Buffer.concat([...heads, ...messages.flatMap((each) => [word(each.length), each])]);
  return { name: `checkpoint/${name}`, bytes };
}

export function image<D extends DescMessage>(
  name: string,
  kind: keyof typeof magics,
  schema: D,
  messages: readonly MessageInitShape<D>[],
): TarFile {
  const encoded = messages.map((each) => toBinary(schema, create(schema, each)));
  return rawImage(name, kind, encoded);
}

/** One message of areas, as field 14 of it. */
export function memory(pid: number, areas: readonly MessageInitShape<typeof AreaSchema>[]): TarFile {
  const parts = areas.map((area) => {
    const bytes = toBinary(AreaSchema, create(AreaSchema, area));
    return Buffer.concat([Buffer.from([(14 << 3) | 2, bytes.length]), bytes]);
  });
  return rawImage(`mm-${pid}.img`, 'memory', [Buffer.concat(parts)]);
}

export function pagemap(name: string, runs: readonly MessageInitShape<typeof RunSchema>[]): TarFile {
  const head = toBinary(PagemapHeadSchema, create(PagemapHeadSchema, { pagesId: 1 }));
  const encoded = runs.map((run) => toBinary(RunSchema, create(RunSchema, run)));
  return rawImage(name, 'pagemap', [head, ...encoded]);
}

const loopback = Buffer.from([127, 0, 0, 1]).readUInt32LE();
const heap = (1 << 0) | (1 << 5) | (1 << 9);
const sharedMemory = (1 << 0) | (1 << 8);

export interface CheckpointFacts {
  counter?: number;
  environment?: readonly string[];
  podUid?: string;
  id?: string;
  log?: string;
  pages?: number;
  changed?: readonly TarFile[];
  worker?: boolean;
}

/** A container with a shell, a worker of two threads, a socket that listens and shared memory. */
export function checkpoint(facts: CheckpointFacts = {}): TarFile[] {
  const { environment = ['PATH=/bin', 'TOKEN=secret'], podUid = 'uid-1', id = 'container-1' } = facts;
  const { log = 'one\n', pages = 10, worker = true } = facts;
  const changed = facts.changed ?? [text('data/count', '17\n'), text('data/large', 'x'.repeat(5000))];
  const fown = [
    { type: 1, id: 1, regular: { flags: 2, position: 3n, name: '/dev/null' } },
    { type: 2, id: 2, pipe: { pipe: 77, flags: 1 } },
    {
      type: 4,
      id: 3,
      inet: { family: 2, type: 1, protocol: 6, state: 10, localPort: 8080, remotePort: 0, local: [loopback] },
    },
    { type: 5, id: 4, unix: { inode: 9, type: 1, state: 1, peer: 10, name: Buffer.from('\0bus') } },
    { type: 6, id: 5 },
    { type: 99, id: 6 },
  ];
  const task = (comm: string) => ({ machine: 1, task: { state: 1, comm }, ids: { files: comm.length } });
  return [
    image('inventory.img', 'inventory', InventorySchema, [{ version: 2 }]),
    image('pstree.img', 'tree', TreeEntrySchema, [
      { pid: 1, ppid: 0, pgid: 1, sid: 1, threads: [1] },
      ...(worker ? [{ pid: 7, ppid: 1, pgid: 1, sid: 1, threads: [7, 8] }] : []),
    ]),
    image('core-1.img', 'core', CoreSchema, [task('sh')]),
    ...(worker ? [image('core-7.img', 'core', CoreSchema, [task('worker')])] : []),
    image('core-8.img', 'core', CoreSchema, [{ machine: 1, thread: { comm: 'worker' } }]),
    memory(1, [
      { start: 0x1000n, end: 0x5000n, status: heap },
      { start: 0x10000n, end: 0x20000n, status: sharedMemory, shmid: 5n },
    ]),
    memory(7, [{ start: 0x1000n, end: 0x2000n, status: heap }]),
    pagemap('pagemap-1.img', [
      { address: 0x1000n, pages: BigInt(pages), flags: 4 },
      { address: 0x9000n, pages: 100n, flags: 1 },
    ]),
    pagemap('pagemap-7.img', [{ address: 0x1000n, oldPages: 1 }]),
    pagemap('pagemap-shmem-5.img', [{ address: 0n, pages: 3n, flags: 4 }]),
    image(
      'fdinfo-2.img',
      'descriptors',
      DescriptorSchema,
      [1, 2, 3].map((file) => ({ file, fd: file - 1, type: file === 3 ? 4 : file })),
    ),
    image(
      'fdinfo-6.img',
      'descriptors',
      DescriptorSchema,
      [4, 5, 6].map((file) => ({ file, fd: file, type: file === 6 ? 99 : file + 1 })),
    ),
    image('files.img', 'files', FileSchema, fown),
    image('mountpoints-11.img', 'mounts', MountSchema, [
      { type: 17, id: 2, mountpoint: '/', root: '/', source: 'overlay' },
      { type: 1, id: 1, mountpoint: '/proc', root: '/', source: 'proc', flags: 1 },
    ]),
    { name: 'checkpoint/pages-1.img', bytes: Buffer.alloc(pages * 4096, 1) },
    json('config.dump', {
      id,
      rootfsImageName: 'localhost/app:1',
      rootfsImageRef: 'localhost/app@sha256:0123',
      runtime: 'io.containerd.runc.v2',
      createdTime: '2026-01-02T03:04:05Z',
      checkpointedTime: '2026-01-02T03:05:06.789Z',
    }),
    json('spec.dump', { process: { env: environment }, annotations: { team: 'one' } }),
    json('status.dump', {
      labels: {
        'io.kubernetes.container.name': 'main',
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'default',
        'io.kubernetes.pod.uid': podUid,
      },
    }),
    text('container.log', log),
    text('dump.log', '(00.000070) Version: 4.2.1 (gitid 0)\n'),
    { name: 'rootfs-diff.tar', bytes: gzipSync(tar([...changed, text('etc/.wh.motd', '')])) },
  ];
}
