import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Header, Parser } from 'tar';
import { fetched } from './folder.ts';

/** What differs from the lab's image. */
export interface ImageOptions {
  /** As USER of a Dockerfile: `7`, `7:8`, `name`. */
  user?: string;
  /** A further layer with so many bytes that cannot be compressed. */
  extraBytes?: number;
}

export interface Content {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Buffer;
}

/** A manifest, and everything that it names. */
export interface ImageContent {
  readonly manifest: Content;
  readonly blobs: readonly Content[];
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

interface Manifest {
  schemaVersion: number;
  mediaType: string;
  config: Descriptor;
  layers: Descriptor[];
}

interface ImageConfig {
  config: { User?: string };
  rootfs: { diff_ids: string[] };
}

/** The lab's image, changed. */
export async function buildImage({ user, extraBytes = 0 }: ImageOptions = {}): Promise<ImageContent> {
  const files = await filesIn(fetched('image/busybox.tar'));
  const blobOf = (digest: string) => files.get(`blobs/${digest.replace(':', '/')}`) ?? Buffer.alloc(0);
  const index: { manifests: Descriptor[] } = parse(files.get('index.json'));
  const manifest: Manifest = parse(blobOf(index.manifests[0]?.digest ?? ''));
  const config: ImageConfig = parse(blobOf(manifest.config.digest));
  const layers = manifest.layers.map(({ mediaType, digest }) => ({
    mediaType,
    digest,
    bytes: blobOf(digest),
  }));
  if (user !== undefined) config.config.User = user;
  if (extraBytes > 0) {
    const layer = contentOf('application/vnd.oci.image.layer.v1.tar', layerOf(extraBytes));
    config.rootfs.diff_ids.push(layer.digest);
    layers.push(layer);
  }
  const configContent = contentOf(manifest.config.mediaType, Buffer.from(JSON.stringify(config)));
  const changed: Manifest = {
    ...manifest,
    config: descriptorOf(configContent),
    layers: layers.map(descriptorOf),
  };
  return {
    manifest: contentOf(manifest.mediaType, Buffer.from(JSON.stringify(changed))),
    blobs: [configContent, ...layers],
  };
}

function contentOf(mediaType: string, bytes: Buffer): Content {
  return { mediaType, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes };
}

function descriptorOf({ mediaType, digest, bytes }: Content): Descriptor {
  return { mediaType, digest, size: bytes.length };
}

/** A tar archive with one file. */
function layerOf(size: number): Buffer {
  const header = new Header({
    path: `ballast-${randomBytes(4).toString('hex')}`,
    mode: 0o644,
    size,
    type: 'File',
  });
  const block = Buffer.alloc(512);
  header.encode(block);
  const padding = Buffer.alloc((512 - (size % 512)) % 512);
  return Buffer.concat([block, randomBytes(size), padding, Buffer.alloc(1024)]);
}

function parse<T>(bytes: Buffer | undefined): T {
  return JSON.parse(String(bytes));
}

async function filesIn(path: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const parser = new Parser({
    onReadEntry: (entry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
      entry.on('end', () => files.set(entry.path, Buffer.concat(chunks)));
    },
  });
  await pipeline(createReadStream(path), parser);
  return files;
}
