import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Parser } from 'tar';

/** A registry of images on the loopback address, without TLS, that serves one image for reading. */
export interface Registry extends AsyncDisposable {
  /** The image as a runtime pulls it. */
  readonly image: string;
  /** The same, by its digest. */
  readonly pinned: string;
}

/** `layout`: an OCI image layout in a tar archive, with one image. */
export async function serveImage(layout: string): Promise<Registry> {
  const files = await filesIn(layout);
  const index: unknown = JSON.parse(String(files.get('index.json')));
  assert.ok(
    typeof index === 'object' && index !== null && 'manifests' in index && Array.isArray(index.manifests),
  );
  const { digest, mediaType } = index.manifests[0];
  const server = createServer(({ method, url = '' }, response) => {
    const asked = /^\/v2\/lab\/busybox\/(manifests|blobs)\/([\w:]+)$/.exec(url);
    if (asked === null) return void response.writeHead(url === '/v2/' ? 200 : 404).end();
    const wanted = asked[2] === '1' ? String(digest) : (asked[2] ?? '');
    const bytes = files.get(`blobs/${wanted.replace(':', '/')}`);
    if (bytes === undefined) return void response.writeHead(404).end();
    const type = asked[1] === 'manifests' ? String(mediaType) : 'application/octet-stream';
    response.writeHead(200, {
      'content-type': type,
      'content-length': bytes.length,
      'docker-content-digest': wanted,
    });
    response.end(method === 'HEAD' ? undefined : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;
  return {
    image: `127.0.0.1:${port}/lab/busybox:1`,
    pinned: `127.0.0.1:${port}/lab/busybox@${digest}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
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
