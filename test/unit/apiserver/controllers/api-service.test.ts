import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import type { Shown } from '../support/index.ts';
import { startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const services = '/api/v1/namespaces/default/services';
const path = `${services}/kubernetes`;
const port = { name: 'https', protocol: 'TCP', port: server.port, targetPort: server.port };

async function find(): Promise<Shown | undefined> {
  const reply = await admin.request('GET', path);
  return reply.code === 200 ? JSON.parse(reply.text) : undefined;
}

const isRight = async () => {
  const found = await find();
  const { clusterIP, ports } = found?.spec ?? {};
  return clusterIP === 'None' && JSON.stringify(ports) === JSON.stringify([port]) ? found : undefined;
};

describe('the Service of the API', () => {
  test('is there, without an address, and with the port of the API', async () => {
    const { metadata } = await waitFor('the Service', isRight);
    assert.deepEqual(metadata.labels, { component: 'apiserver', provider: 'kubernetes' });
  });

  test('comes again when it was deleted, and is put right when its port was changed', async () => {
    const { metadata } = await waitFor('the Service', isRight);
    await admin.must('DELETE', path);
    const next = await waitFor('another one', async () => {
      const found = await isRight();
      return found?.metadata.uid === metadata.uid ? undefined : found;
    });
    await admin.must('PUT', path, { ...next, spec: { ...next.spec, ports: [{ ...port, port: 1 }] } });
    await waitFor('the port', isRight);
  });

  test('is left alone where somebody has made it another one', async () => {
    const found = await waitFor('the Service', isRight);
    const spec = { type: 'ExternalName', externalName: 'api.example.org' };
    const { metadata } = await admin.must('PUT', path, { metadata: found.metadata, spec });
    await admin.must('POST', services, { metadata: { name: 'later' }, spec: { ports: [{ port: 80 }] } });
    assert.deepEqual((await find())?.metadata, metadata);
  });
});
