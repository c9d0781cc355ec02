/**
 * Makes an OCI image (an image layout in one tar) whose only content is a static busybox: no registry and
 * no image builder is needed. The same input gives the same bytes.
 *
 *   node scripts/lab/make-image.ts BUSYBOX OUT.tar
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { TarEntry } from './tar.ts';
import { tar } from './tar.ts';

const reference = 'localhost/lab/busybox:1';

/** Sleep is no PID 1 that ends on SIGTERM, so a shell traps it: containers of this image stop at once. */
const pause = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';

interface Blob {
  bytes: Buffer;
  descriptor: { mediaType: string; digest: string; size: number };
}

function blob(mediaType: string, bytes: Buffer): Blob {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { bytes, descriptor: { mediaType, digest, size: bytes.length } };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function rootFileSystem(busybox: Buffer, applets: readonly string[]): Buffer {
  const folders = ['bin', 'data', 'dev', 'etc', 'proc', 'sys'];
  return tar([
    ...folders.map((path): TarEntry => ({ type: 'folder', path, mode: 0o755 })),
    { type: 'folder', path: 'tmp', mode: 0o1777 },
    { type: 'file', path: 'bin/busybox', mode: 0o755, bytes: busybox },
    ...applets.map((name): TarEntry => ({ type: 'link', path: `bin/${name}`, target: 'busybox' })),
    file('etc/passwd', 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n'),
    file('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
  ]);
}

function file(path: string, text: string): TarEntry {
  return { type: 'file', path, mode: 0o644, bytes: Buffer.from(text) };
}

function imageLayout(layerBytes: Buffer, architecture: string): Buffer {
  const platform = { architecture, os: 'linux' };
  const layer = blob('application/vnd.oci.image.layer.v1.tar', layerBytes);
  const config = blob(
    'application/vnd.oci.image.config.v1+json',
    json({
      created: '1970-01-01T00:00:00Z',
      ...platform,
      config: { Env: ['PATH=/bin'], Cmd: ['/bin/sh', '-c', pause], WorkingDir: '/' },
      rootfs: { type: 'layers', diff_ids: [layer.descriptor.digest] },
      history: [{ created_by: 'scripts/lab/make-image.ts' }],
    }),
  );
  const manifest = blob(
    'application/vnd.oci.image.manifest.v1+json',
    json({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: config.descriptor,
      layers: [layer.descriptor],
    }),
  );
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...manifest.descriptor, platform, annotations }],
  };
  return tar([
    file('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
    file('index.json', JSON.stringify(index)),
    { type: 'folder', path: 'blobs', mode: 0o755 },
    { type: 'folder', path: 'blobs/sha256', mode: 0o755 },
    ...[layer, config, manifest].map(({ bytes, descriptor }): TarEntry => {
      return { type: 'file', path: `blobs/${descriptor.digest.replace(':', '/')}`, mode: 0o644, bytes };
    }),
  ]);
}

function main([busyboxPath, out]: readonly string[]): void {
  if (busyboxPath === undefined || out === undefined) {
    throw new Error('usage: node scripts/lab/make-image.ts BUSYBOX OUT.tar');
  }
  const applets = execFileSync(busyboxPath, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const wanted = applets.filter((name) => name !== 'busybox' && !name.includes('/'));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  writeFileSync(out, imageLayout(rootFileSystem(readFileSync(busyboxPath), wanted), architecture));
}

main(process.argv.slice(2));
