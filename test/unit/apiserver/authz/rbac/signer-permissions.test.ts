import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { csrs, signingRequest, startServer } from '../../support/index.ts';
import { binding, clusterBindings, clusterRoles, role, user } from './served.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const pair = await server.issue({ commonName: 'jane', organizations: ['approvers'] });
const jane = server.holder(pair);
const group = 'certificates.k8s.io';
const signerName = 'example.org/workload';
const body = await signingRequest('a', { spec: { signerName } });
const certificate = Buffer.from(pair.cert).toString('base64');
const approved = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'it is ours' }];
const failed = [{ type: 'Failed', status: 'True', reason: 'ByHand', message: 'it cannot be' }];
const merging = { 'content-type': 'application/merge-patch+json' };
const applying = { 'content-type': 'application/apply-patch+yaml' };

before(async () => {
  const resources = ['', '/approval', '/status'].map((part) => `certificatesigningrequests${part}`);
  const rule = { verbs: ['get', 'update', 'patch'], apiGroups: [group], resources };
  await admin.must('POST', clusterRoles, role('deciders', rule));
  await admin.must('POST', clusterBindings, binding('deciders', 'ClusterRole', 'deciders', user('jane')));
});

/** Gives jane a verb on signers, for as long as `work` takes. */
async function having(verb: string, resourceNames: string[], work: () => Promise<void>): Promise<void> {
  const rule = { verbs: [verb], apiGroups: [group], resources: ['signers'], resourceNames };
  await admin.must('POST', clusterRoles, role('for-now', rule));
  await admin.must('POST', clusterBindings, binding('for-now', 'ClusterRole', 'for-now', user('jane')));
  try {
    await work();
  } finally {
    for (const path of [clusterBindings, clusterRoles]) await admin.must('DELETE', `${path}/for-now`);
  }
}

/** A new request to the signer, the path of it, and it with another status. */
async function request() {
  const made = await admin.must('POST', csrs, body);
  const name = String(made.metadata.name);
  return { name, path: `${csrs}/${name}`, with: (status: object) => ({ ...made, status }) };
}

async function statusOf(path: string): Promise<object> {
  return (await admin.must('GET', path)).status ?? {};
}

function why(name: string, verb: string): string {
  const what = `user not permitted to ${verb} requests with signerName "${signerName}"`;
  return `certificatesigningrequests.${group} "${name}" is forbidden: ${what}`;
}

describe('whoever may write the approval of requests', () => {
  test('approves none by it alone, whichever way it is written', async () => {
    const asked = await request();
    const path = `${asked.path}/approval`;
    const status = { conditions: approved };
    const put = await jane.refused('Forbidden', 'PUT', path, { body: asked.with(status) });
    assert.equal(put.message, why(asked.name, 'approve'));
    assert.deepEqual(put.details, { name: asked.name, group, kind: 'certificatesigningrequests' });
    const patched = await jane.refused('Forbidden', 'PATCH', path, { body: { status }, headers: merging });
    assert.equal(patched.message, why(asked.name, 'approve'));
    const config = { apiVersion: `${group}/v1`, kind: 'CertificateSigningRequest', status };
    const send = { body: { ...config, metadata: { name: asked.name } }, headers: applying };
    const applied = await jane.refused('Forbidden', 'PATCH', `${path}?fieldManager=jane`, send);
    assert.equal(applied.message, why(asked.name, 'approve'));
    await jane.refused('Forbidden', 'PUT', `${path}?dryRun=All`, { body: asked.with(status) });
    assert.deepEqual(await statusOf(asked.path), {});
  });

  test('denies none by it alone', async () => {
    const asked = await request();
    const conditions = [{ ...approved[0], type: 'Denied' }];
    const send = { body: asked.with({ conditions }) };
    const { message } = await jane.refused('Forbidden', 'PUT', `${asked.path}/approval`, send);
    assert.equal(message, why(asked.name, 'approve'));
  });

  for (const names of [[signerName], ['example.org/*'], []]) {
    test(`approves with the verb approve on [${names}]`, async () => {
      const asked = await request();
      await having('approve', names, async () => {
        const next = asked.with({ conditions: approved });
        const { status } = await jane.must('PUT', `${asked.path}/approval`, next);
        assert.match(JSON.stringify(status), /"Approved"/);
      });
    });
  }

  for (const name of ['example.org/other', 'example.com/*', 'example.org', '*', 'example.org/work*']) {
    test(`does not approve with the verb approve on ${name}`, async () => {
      const asked = await request();
      await having('approve', [name], async () => {
        const send = { body: asked.with({ conditions: approved }) };
        const { message } = await jane.refused('Forbidden', 'PUT', `${asked.path}/approval`, send);
        assert.equal(message, why(asked.name, 'approve'));
      });
    });
  }

  test('does not approve with the verb sign, nor by naming another signer in the write', async () => {
    const asked = await request();
    const path = `${asked.path}/approval`;
    await having('sign', [signerName], async () => {
      await jane.refused('Forbidden', 'PUT', path, { body: asked.with({ conditions: approved }) });
    });
    await having('approve', ['example.org/other'], async () => {
      const spec = { ...body.spec, signerName: 'example.org/other' };
      const next = { ...asked.with({ conditions: approved }), spec };
      const { message } = await jane.refused('Forbidden', 'PUT', path, { body: next });
      assert.equal(message, why(asked.name, 'approve'));
    });
  });
});

describe('whoever may write the status of requests', () => {
  test('sets no certificate and no condition without the verb sign', async () => {
    const asked = await request();
    const path = `${asked.path}/status`;
    await having('approve', [signerName], async () => {
      for (const status of [{ certificate }, { conditions: failed }]) {
        const put = await jane.refused('Forbidden', 'PUT', path, { body: asked.with(status) });
        assert.equal(put.message, why(asked.name, 'sign'));
        await jane.refused('Forbidden', 'PATCH', path, { body: { status }, headers: merging });
      }
    });
    assert.deepEqual(await statusOf(asked.path), {});
  });

  for (const name of [signerName, 'example.org/*']) {
    test(`sets both with the verb sign on ${name}`, async () => {
      await having('sign', [name], async () => {
        for (const status of [{ certificate }, { conditions: failed }]) {
          const asked = await request();
          await jane.must('PUT', `${asked.path}/status`, asked.with(status));
          assert.deepEqual(Object.keys(await statusOf(asked.path)), Object.keys(status));
        }
      });
    });
  }

  test('needs no verb on signers for a write that answers nothing', async () => {
    const asked = await request();
    await admin.must('PUT', `${asked.path}/approval`, asked.with({ conditions: approved }));
    const now = await jane.must('GET', asked.path);
    const metadata = { ...now.metadata, labels: { seen: 'yes' } };
    await jane.must('PUT', `${asked.path}/status`, { ...now, metadata });
    const labels = { seen: 'again' };
    const send = { body: { metadata: { labels } }, headers: merging };
    assert.equal((await jane.request('PATCH', asked.path, send)).code, 200);
  });
});

describe('members of system:masters', () => {
  test('approve and sign for every signer, also when no role says so', async () => {
    const asked = await request();
    await admin.must('DELETE', `${clusterBindings}/cluster-admin`);
    const path = `${asked.path}/approval`;
    const next = await admin.must('PUT', path, asked.with({ conditions: approved }));
    await admin.must('PUT', `${asked.path}/status`, { ...next, status: { ...next.status, certificate } });
    assert.deepEqual(Object.keys(await statusOf(asked.path)).sort(), ['certificate', 'conditions']);
  });
});

describe('whoever may write trust bundles', () => {
  const bundles = `/apis/${group}/v1beta1/clustertrustbundles`;
  const attest = `user not permitted to attest for signerName "${signerName}"`;
  const authorities = server.running.ca;
  const bundle = (name: string, more: object = {}, metadata: object = {}) => ({
    apiVersion: `${group}/v1beta1`,
    kind: 'ClusterTrustBundle',
    metadata: { name, ...metadata },
    spec: { trustBundle: authorities, ...more },
  });
  const merge = async (path: string, body: object) => {
    const { code, text } = await jane.request('PATCH', path, { body, headers: merging });
    assert.equal(code, 200, text);
  };
  const signed = (name: string, metadata: object = {}) =>
    bundle(`example.org:workload:${name}`, { signerName }, metadata);

  before(async () => {
    const rule = {
      verbs: ['create', 'get', 'update', 'patch', 'delete'],
      ...{ apiGroups: [group], resources: ['clustertrustbundles'] },
    };
    await admin.must('POST', clusterRoles, role('bundlers', rule));
    await admin.must('POST', clusterBindings, binding('bundlers', 'ClusterRole', 'bundlers', user('jane')));
  });

  test('makes and changes those of no signer', async () => {
    await jane.must('POST', bundles, bundle('plain'));
    await merge(`${bundles}/plain`, { metadata: { labels: { a: 'b' } } });
    await jane.must('DELETE', `${bundles}/plain`);
  });

  test('makes none of a signer without the verb attest, whichever way', async () => {
    const { metadata } = signed('refused');
    const posted = await jane.refused('Forbidden', 'POST', bundles, { body: signed('refused') });
    assert.equal(posted.message, `clustertrustbundles.${group} "${metadata.name}" is forbidden: ${attest}`);
    const send = { body: signed('refused'), headers: applying };
    await jane.refused('Forbidden', 'PATCH', `${bundles}/${metadata.name}?fieldManager=jane`, send);
    await having('sign', [signerName], async () => {
      await jane.refused('Forbidden', 'POST', bundles, { body: signed('refused') });
    });
    await having('attest', ['example.org/other'], async () => {
      await jane.refused('Forbidden', 'POST', bundles, { body: signed('refused') });
    });
  });

  for (const name of [signerName, 'example.org/*']) {
    test(`makes and changes it with the verb attest on ${name}`, async () => {
      const own = signed(name.endsWith('*') ? 'all' : 'one');
      await having('attest', [name], async () => {
        await jane.must('POST', bundles, own);
        await merge(`${bundles}/${own.metadata.name}`, { metadata: { labels: { a: 'b' } } });
      });
      const change = { body: { metadata: { labels: { a: 'c' } } }, headers: merging };
      await jane.refused('Forbidden', 'PATCH', `${bundles}/${own.metadata.name}`, change);
    });
  }

  test('changes finalizers, or nothing, without it, and deletes without it', async () => {
    const own = signed('collected', { finalizers: ['example.org/one'] });
    const path = `${bundles}/${own.metadata.name}`;
    await admin.must('POST', bundles, own);
    await merge(path, { metadata: { finalizers: [] } });
    await merge(path, { spec: { signerName } });
    await jane.must('DELETE', path);
  });
});
