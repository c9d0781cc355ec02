import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import type { Shown } from '../support/index.ts';
import { csrs, named, nodes, signingRequest, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const nodeA = await server.node('node-a');

interface Condition {
  type: string;
  status?: string;
  reason: string;
  message: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

interface Answered {
  conditions?: Condition[];
  certificate?: string;
}

/** The status of a request once it is answered for good: with a certificate, or with why there is none. */
async function answerTo({ metadata }: Shown): Promise<Answered> {
  return await waitFor('an answer', async () => {
    const { status }: { status?: Answered } = await admin.must('GET', `${csrs}/${metadata.name}`);
    const isRefused = status?.conditions?.some(({ type }) => ['Denied', 'Failed'].includes(type));
    return status?.certificate || isRefused ? status : undefined;
  });
}

function certificateIn({ certificate = '' }: Answered): X509Certificate {
  return new X509Certificate(Buffer.from(certificate, 'base64'));
}

describe('a client certificate', () => {
  test('is signed for a node itself', async () => {
    const made = await nodeA.must('POST', csrs, await signingRequest('node-a'));
    assert.equal(made.spec?.['username'], 'system:node:node-a');
    assert.deepEqual(made.spec?.['groups'], ['system:nodes', 'system:authenticated']);
    assert.deepEqual(made.status, {}, 'nothing is decided yet');
    const answer = await answerTo(made);
    assert.equal(answer.conditions?.[0]?.type, 'Approved');
    const certificate = certificateIn(answer);
    assert.match(certificate.subject, /CN=system:node:node-a/);
    assert.ok(certificate.checkIssued(new X509Certificate(server.running.ca)));
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.equal((await nodeA.must('GET', `${csrs}/${made.metadata.name}`)).metadata.uid, made.metadata.uid);
  });

  test('tells everything that is known of who asks for it, however that is called', async () => {
    const body = await signingRequest('node-a');
    const headers = { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' };
    const more = { 'impersonate-extra-__proto__': 'one', 'impersonate-extra-team': 'two' };
    const { text } = await admin.request('POST', csrs, { body, headers: { ...headers, ...more } });
    assert.match(text, /"extra":\{"__proto__":\["one"\],"team":\["two"\]\}/);
  });

  test('is signed for an administrator who joins a node', async () => {
    const answer = await answerTo(await admin.must('POST', csrs, await signingRequest('node-new')));
    assert.match(certificateIn(answer).subject, /CN=system:node:node-new/);
  });

  test('is not signed for a node in another’s name, nor for more than a node', async () => {
    const other = await answerTo(await nodeA.must('POST', csrs, await signingRequest('node-b')));
    assert.equal(other.conditions?.[0]?.type, 'Denied');
    assert.equal(other.certificate, undefined);
    const usages = await answerTo(
      await nodeA.must('POST', csrs, await signingRequest('node-a', { spec: { usages: ['server auth'] } })),
    );
    assert.equal(usages.conditions?.[0]?.type, 'Denied', 'a client certificate is not for servers');
  });

  test('lives as long as was asked for, within bounds', async () => {
    const spec = { expirationSeconds: 3600 };
    const answer = await answerTo(await nodeA.must('POST', csrs, await signingRequest('node-a', { spec })));
    const lifeMs = Date.parse(certificateIn(answer).validTo) - Date.now();
    assert.ok(lifeMs > 3_500_000 && lifeMs < 3_610_000, `${lifeMs}`);
    await nodeA.refused('Invalid', 'POST', csrs, {
      body: await signingRequest('node-a', { spec: { expirationSeconds: 5 } }),
    });
  });
});

describe('a serving certificate', () => {
  const spec = {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
  };

  test('waits until the node has told its addresses, and is good for these', async () => {
    const nodeS = await server.node('node-s');
    await nodeS.must('POST', nodes, named('node-s'));
    const own = await signingRequest('node-s', { spec, addresses: ['192.0.2.1'] });
    const early = await nodeS.must('POST', csrs, own);
    await waitFor('the signer to look at it', () =>
      server.logged().includes('has not told its addresses yet'),
    );
    assert.deepEqual((await admin.must('GET', `${csrs}/${early.metadata.name}`)).status, {});
    const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
    await nodeS.must('PUT', `${nodes}/node-s/status`, { ...named('node-s'), status: { addresses } });
    const certificate = certificateIn(await answerTo(early));
    assert.equal(certificate.subjectAltName, 'IP Address:192.0.2.1');
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);

    const foreign = await signingRequest('node-s', { spec, addresses: ['192.0.2.1', '192.0.2.2'] });
    const refused = await answerTo(await nodeS.must('POST', csrs, foreign));
    assert.equal(refused.conditions?.[0]?.type, 'Denied');
    assert.match(refused.conditions?.[0]?.message ?? '', /192\.0\.2\.2/);
  });
});

describe('forgery', () => {
  test('who asks is what the server knows, whatever the body says', async () => {
    const forged = {
      username: 'kubernetes-admin',
      groups: ['system:masters'],
      uid: 'x',
      extra: { a: ['b'] },
    };
    const made = await nodeA.must('POST', csrs, await signingRequest('node-b', { spec: forged }));
    assert.equal(made.spec?.['username'], 'system:node:node-a');
    assert.deepEqual(made.spec?.['groups'], ['system:nodes', 'system:authenticated']);
    assert.equal(made.spec?.['uid'], undefined);
    assert.equal(made.spec?.['extra'], undefined);
    assert.equal((await answerTo(made)).conditions?.[0]?.type, 'Denied');
  });

  test('nobody brings an approval along', async () => {
    const status = { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'AAAA' };
    const made = await nodeA.must('POST', csrs, await signingRequest('node-a', { status }));
    assert.deepEqual(made.status, {});
    await nodeA.refused('Forbidden', 'PUT', `${csrs}/${made.metadata.name}/status`, {
      body: { ...made, status },
    });
    await nodeA.refused('Forbidden', 'PUT', `${csrs}/${made.metadata.name}`, { body: made });
    await nodeA.refused('Forbidden', 'DELETE', `${csrs}/${made.metadata.name}`);
  });

  test('what was asked for stays, for administrators too', async () => {
    const spec = { signerName: 'example.com/other' };
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec }));
    const changed = {
      ...made,
      spec: { ...made.spec, username: 'x', signerName: 'kubernetes.io/kubelet-serving' },
    };
    assert.deepEqual((await admin.must('PUT', `${csrs}/${made.metadata.name}`, changed)).spec, made.spec);
  });

  test('a stranger may not ask', async () => {
    await server.stranger.refused('Forbidden', 'POST', csrs, { body: await signingRequest('node-a') });
    await server.nobody.refused('Unauthorized', 'POST', csrs, { body: await signingRequest('node-a') });
  });

  test('a signer of somebody else is left alone', async () => {
    const spec = { signerName: 'example.com/theirs' };
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec }));
    const ours = await admin.must('POST', csrs, await signingRequest('node-a'));
    await answerTo(ours);
    assert.deepEqual((await admin.must('GET', `${csrs}/${made.metadata.name}`)).status, {});
  });

  test('a request that is no request', async () => {
    const pem = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n';
    const spec = { request: Buffer.from(pem).toString('base64') };
    const answer = await answerTo(await nodeA.must('POST', csrs, await signingRequest('node-a', { spec })));
    assert.equal(answer.conditions?.[0]?.type, 'Denied');
    for (const request of ['', 'AAAA', '!!', 'x'.repeat(100)]) {
      const reply = await nodeA.request('POST', csrs, {
        body: await signingRequest('node-a', { spec: { request } }),
      });
      assert.ok(reply.code === 422 || reply.code === 400, `${request}: ${reply.text}`);
    }
  });
});

describe('approval', () => {
  const foreign = { signerName: 'example.com/theirs' };
  const approved = { type: 'Approved', status: 'True', reason: 'ByHand' };
  const denied = { ...approved, type: 'Denied' };
  const statusOf = ({ status = {} }: { status?: Answered }) => status;

  test('is given through a path of its own, with the times that were left out', async () => {
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec: foreign }));
    const path = `${csrs}/${made.metadata.name}`;
    assert.deepEqual(await admin.must('GET', `${path}/approval`), made);
    const body = {
      ...made,
      status: { conditions: [approved], certificate: 'AAAA' },
      spec: { ...made.spec, ...{ uid: 'x' } },
    };
    const next = await admin.must('PUT', `${path}/approval`, body);
    const { conditions = [], certificate } = statusOf(next);
    assert.equal(certificate, undefined, 'a certificate is not to be given here');
    assert.deepEqual(next.spec, made.spec);
    const [given] = conditions;
    assert.ok(given);
    const { lastUpdateTime, lastTransitionTime, ...rest } = given;
    assert.deepEqual(rest, approved);
    assert.match(`${lastUpdateTime} ${lastTransitionTime}`, /^\S+Z \S+Z$/);

    const again = await admin.must('PUT', `${path}/approval`, {
      ...next,
      status: { conditions: [{ ...approved, reason: 'Twice' }] },
    });
    assert.equal(statusOf(again).conditions?.[0]?.reason, 'Twice');
    assert.equal(statusOf(again).conditions?.[0]?.lastTransitionTime, lastTransitionTime);
  });

  test('is not given through status, nor on the object itself', async () => {
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec: foreign }));
    const path = `${csrs}/${made.metadata.name}`;
    const status = { conditions: [approved] };
    const { details } = await admin.refused('Invalid', 'PUT', `${path}/status`, {
      body: { ...made, status },
    });
    assert.deepEqual(details?.causes, [
      {
        reason: 'FieldValueForbidden',
        field: 'status.conditions',
        message: 'Forbidden: updates may not add a condition of type "Approved"',
      },
    ]);
    assert.deepEqual((await admin.must('PUT', path, { ...made, status })).status, {});
  });

  test('cannot be taken back, contradicted or doubted', async () => {
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec: foreign }));
    const path = `${csrs}/${made.metadata.name}/approval`;
    const send = (conditions: object[]) => ({
      body: { metadata: { name: made.metadata.name }, spec: made.spec, status: { conditions } },
    });
    await admin.refused('Invalid', 'PUT', path, send([approved, denied]));
    await admin.refused('Invalid', 'PUT', path, send([{ ...approved, status: 'False' }]));
    assert.equal((await admin.request('PUT', path, send([approved]))).code, 200);
    await admin.refused('Invalid', 'PUT', path, send([]));
    await admin.refused('Invalid', 'PUT', path, send([denied]));
  });

  test('leaves it to the signer to answer with a certificate, once', async () => {
    const made = await admin.must('POST', csrs, await signingRequest('node-a', { spec: foreign }));
    const path = `${csrs}/${made.metadata.name}`;
    const yes = await admin.must('PUT', `${path}/approval`, { ...made, status: { conditions: [approved] } });
    const { conditions = [] } = statusOf(yes);
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const certificate = base64(server.running.ca);
    const changed = conditions.map((condition) => ({ ...condition, reason: 'Meddled' }));
    const failed = { type: 'Failed', status: 'True', reason: 'Late', message: '' };
    await admin.refused('Invalid', 'PUT', `${path}/status`, {
      body: { ...yes, status: { conditions, certificate: base64('none') } },
    });
    const status = { conditions: [...changed, failed], certificate };
    const issued = statusOf(await admin.must('PUT', `${path}/status`, { ...yes, status }));
    assert.equal(issued.certificate, certificate);
    assert.equal(issued.conditions?.[0]?.reason, 'ByHand', 'the approval stays as it was given');
    assert.deepEqual(
      issued.conditions?.map(({ type }) => type),
      ['Approved', 'Failed'],
    );
    await admin.refused('Invalid', 'PUT', `${path}/status`, {
      body: {
        metadata: made.metadata.name ? { name: made.metadata.name } : {},
        spec: made.spec,
        status: { ...issued, certificate: base64(`${server.running.ca}\n`) },
      },
    });
  });

  test('by a person of what the signer waits with is answered as well', async () => {
    const spec = {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
    };
    const body = await signingRequest('node-p', { spec, addresses: ['192.0.2.9'] });
    const nodeP = await server.node('node-p');
    await nodeP.must('POST', nodes, named('node-p'));
    const made = await nodeP.must('POST', csrs, body);
    await admin.must('PUT', `${csrs}/${made.metadata.name}/approval`, {
      ...made,
      status: { conditions: [approved] },
    });
    const addresses = [{ type: 'InternalIP', address: '192.0.2.9' }];
    await nodeP.must('PUT', `${nodes}/node-p/status`, { ...named('node-p'), status: { addresses } });
    const answer = await answerTo(made);
    assert.equal(certificateIn(answer).subjectAltName, 'IP Address:192.0.2.9');
    assert.equal(answer.conditions?.[0]?.reason, 'ByHand');
  });

  test('of what may not be signed fails', async () => {
    const spec = {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
    };
    const nodeQ = await server.node('node-q');
    await nodeQ.must('POST', nodes, named('node-q'));
    const made = await nodeQ.must(
      'POST',
      csrs,
      await signingRequest('node-q', { spec, addresses: ['127.0.0.1'] }),
    );
    await admin.must('PUT', `${csrs}/${made.metadata.name}/approval`, {
      ...made,
      status: { conditions: [approved] },
    });
    const addresses = [{ type: 'InternalIP', address: '192.0.2.10' }];
    await nodeQ.must('PUT', `${nodes}/node-q/status`, { ...named('node-q'), status: { addresses } });
    assert.deepEqual(
      (await answerTo(made)).conditions?.map(({ type }) => type),
      ['Approved', 'Failed'],
    );
  });
});
