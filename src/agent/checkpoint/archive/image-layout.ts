/**
 * An OCI image layout in one tar archive, with a checkpoint's archive as the only layer (OCI image specification 1.1,
 * "Image Layout"). The layer comes first in the file. Its name is its digest, which is known only after it was written, so
 * its header is written last. That way the archive is read only once, and the digest is that of the bytes written.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** The name and description of an image. */
interface ImageFacts {
  /** The image's reference, such as `localhost/app:1`. */
  readonly name: string;
  /** As OCI names it, such as `amd64`. */
  readonly architecture: string;
  /** RFC 3339; empty when it is not known. */
  readonly created: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface MadeImage {
  /** Digest of the manifest, by which the image can be pinned. */
  readonly digest: string;
  /** Digest of the layer, which is the archive. */
  readonly layerDigest: string;
  /** Size of the layout. */
  readonly bytes: number;
}

/** Writes a layout into an empty file: first the archive, in chunks, then the rest. */
interface LayoutWriter {
  push(chunk: Uint8Array): Promise<void>;
  /** Writes the rest. Then the file is complete, but not yet durable. */
  finish(image: ImageFacts): Promise<MadeImage>;
}

const blockBytes = 512;
const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export async function createLayoutWriter(file: FileHandle): Promise<LayoutWriter> {
  const { Header } = await import('tar');
  const hash = createHash('sha256');
  let size = 0;
  let at = blockBytes;

  function encodeHeader(path: string, bytes: number): Buffer {
    const block = Buffer.alloc(blockBytes);
    const facts = {
      path,
      size: bytes,
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtime: new Date(0),
      type: 'File',
    } as const;
    new Header(facts).encode(block, 0);
    return block;
  }
  async function append(bytes: Uint8Array): Promise<void> {
    await writeAll(file, bytes, at);
    at += bytes.length;
  }
  async function pad(): Promise<void> {
    await append(Buffer.alloc((blockBytes - (at % blockBytes)) % blockBytes));
  }
  async function addFile(path: string, value: object): Promise<Omit<Blob, 'mediaType'>> {
    const bytes = Buffer.from(JSON.stringify(value));
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    await append(encodeHeader(path === '' ? composeBlobPath(digest) : path, bytes.length));
    await append(bytes);
    await pad();
    return { digest, size: bytes.length };
  }

  return {
    async push(chunk) {
      hash.update(chunk);
      await append(chunk);
      size += chunk.length;
    },
    async finish(image) {
      await pad();
      const layer = { mediaType: mediaTypes.layer, digest: `sha256:${hash.digest('hex')}`, size };
      const config = { mediaType: mediaTypes.config, ...(await addFile('', composeConfig(image, layer))) };
      const manifest = await addFile('', composeManifest(image, config, layer));
      await addFile('index.json', composeIndex(image, { mediaType: mediaTypes.manifest, ...manifest }));
      await addFile('oci-layout', { imageLayoutVersion: '1.0.0' });
      await append(Buffer.alloc(2 * blockBytes));
      await writeAll(file, encodeHeader(composeBlobPath(layer.digest), size), 0);
      return { digest: manifest.digest, layerDigest: layer.digest, bytes: at };
    },
  };
}

const composeBlobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

function composeConfig({ architecture, created }: ImageFacts, layer: Blob) {
  return {
    ...(created === '' ? {} : { created }),
    architecture,
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
    history: [{ created_by: 'nodeward checkpoint image' }],
  };
}

function composeManifest({ annotations }: ImageFacts, config: Blob, layer: Blob) {
  return { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [layer], annotations };
}

function composeIndex({ name, architecture }: ImageFacts, manifest: Blob) {
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
  const platform = { architecture, os: 'linux' };
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [{ ...manifest, platform, annotations }],
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
