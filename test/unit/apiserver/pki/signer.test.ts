import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { NodeRequest, NodeSigner } from '../../../../src/apiserver/pki/index.ts';
import { checkNodeRequest, nodeSigner, SigningRefusedError } from '../../../../src/apiserver/pki/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import {
  alternativeNames,
  createAuthority,
  createRequest,
  findFault,
  generateKeyPem,
  noNames,
  validity,
} from '../../../../src/base/x509/index.ts';
import type { SpecialRequest } from '../../base/x509/special-request.ts';
import { specialRequest } from '../../base/x509/special-request.ts';

const now = Date.UTC(2026, 0, 15);
const dayMs = 24 * 3600_000;
const minuteMs = 60_000;
const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] };

let authority: Pair;
let signer: NodeSigner;
let key: string;

before(async () => {
  authority = await createAuthority('test-ca', 3650 * dayMs, now);
  signer = nodeSigner(authority, () => now);
  key = await generateKeyPem();
});

async function request(names: readonly string[], changed: Partial<NodeRequest> = {}): Promise<NodeRequest> {
  const csrPem = await createRequest(key, subject, alternativeNames(names));
  const addresses = ['node-a.example', '10.0.0.1', 'fd00:0:0::1'];
  return { csrPem, node: 'a', usage: 'serving', addresses, ...changed };
}

describe('a node agent gets', () => {
  test('a client certificate', async () => {
    const cert = await signer.sign(await request([], { usage: 'client' }));
    const expected = { authority: authority.cert, use: 'client', subject, now } as const;
    assert.equal(findFault({ cert, key }, expected), undefined);
    assert.equal(new X509Certificate(cert).subjectAltName, undefined);
  });

  test('a serving certificate for its own name and addresses', async () => {
    const cert = await signer.sign(await request(['a', '10.0.0.1', 'FD00::1']));
    const names = alternativeNames(['a', '10.0.0.1', 'fd00::1']);
    const expected = { authority: authority.cert, use: 'server', subject, names, now } as const;
    assert.equal(findFault({ cert, key }, expected), undefined);
  });

  const lifetimes: [number | undefined, number][] = [
    [undefined, 365 * dayMs],
    [3600_000, 3600_000],
    [1, 10 * minuteMs],
    [-5, 10 * minuteMs],
    [Number.POSITIVE_INFINITY, 365 * dayMs],
    [Number.NaN, 365 * dayMs],
    [1000 * dayMs, 365 * dayMs],
  ];
  for (const [wanted, given] of lifetimes) {
    test(`${given} ms when it asks for ${wanted}`, async () => {
      const lifetime = wanted === undefined ? {} : { lifetimeMs: wanted };
      const cert = await signer.sign(await request([], { usage: 'client', ...lifetime }));
      assert.equal(validity(cert).notAfterMs, now + given);
    });
  }

  test('the usages of the certificates API are taken when they fit', async () => {
    const usages = ['key encipherment', 'digital signature', 'client auth'];
    assert.ok(await signer.sign(await request([], { usage: 'client', usages })));
  });

  test('the node that a request names can be told', async () => {
    assert.equal(await signer.nodeIn((await request([])).csrPem), 'a');
  });
});

describe('nobody gets', () => {
  const special =
    (wanted: SpecialRequest, changed: Partial<NodeRequest> = {}) =>
    async () =>
      await request([], { usage: 'client', ...changed, csrPem: await specialRequest(wanted) });
  const group = { O: ['system:nodes'] };
  const ownName = { CN: ['system:node:a'] };
  const refused: [string, () => Promise<NodeRequest>, RegExp][] = [
    [
      'the name of another node',
      special({ subject: [group, { CN: ['system:node:b'] }] }),
      /must be system:node:a, not/,
    ],
    ['an administrator’s name', special({ subject: [group, { CN: ['kubernetes-admin'] }] }), /common name/],
    ['no name', special({ subject: [group] }), /common name must be system:node:a, not ""/],
    ['two names', special({ subject: [group, ownName, { CN: ['admin'] }] }), /several common names/],
    [
      'a further group',
      special({ subject: [group, { O: ['system:masters'] }, ownName] }),
      /system:nodes alone/,
    ],
    ['another group', special({ subject: [{ O: ['system:masters'] }, ownName] }), /system:nodes alone/],
    ['no group', special({ subject: [ownName] }), /system:nodes alone/],
    ['a unit', special({ subject: [group, ownName, { OU: ['x'] }] }), /OU in the subject/],
    [
      'names in a client certificate',
      () => request(['a'], { usage: 'client' }),
      /client certificate has no names/,
    ],
    ['a foreign name', () => request(['a', 'kubernetes']), /^kubernetes is not known/],
    ['a foreign address', () => request(['a', '10.0.0.2']), /^10\.0\.0\.2 is not known/],
    ['a wildcard', () => request(['*.a']), /\*\.a is not known/],
    ['a serving certificate for nothing', () => request([]), /at least one name/],
    [
      'an e-mail address',
      special({ names: [{ type: 'email', value: 'a@b.example' }] }, { usage: 'serving' }),
      /a name of type email/,
    ],
    [
      'the name of a user by URI',
      special({ names: [{ type: 'url', value: 'spiffe://x' }] }, { usage: 'serving' }),
      /a name of type url/,
    ],
    ['the rights of an authority', special({ authority: true }), /rights of a certificate authority/],
    [
      'another key usage within',
      special({ usages: ['1.3.6.1.5.5.7.3.1'] }),
      /key usage 1\.3\.6\.1\.5\.5\.7\.3\.1/,
    ],
    [
      'another usage',
      () => request([], { usage: 'client', usages: ['server auth'] }),
      /"server auth" is none of digital signature, key encipherment, client auth/,
    ],
    ['no usage', () => request([], { usage: 'client', usages: [] }), /must have "client auth"/],
    ['a name that no node has', () => request([], { usage: 'client', node: 'A/b' }), /is no name of a node/],
    ['an empty node', () => request([], { usage: 'client', node: '' }), /is no name of a node/],
    ['what is no request', () => request([], { csrPem: 'hello' }), /no certificate signing request/],
  ];
  for (const [what, make, why] of refused) {
    test(what, async () => {
      const asked = await make();
      const isTold = (error: unknown): boolean => {
        assert.ok(error instanceof SigningRefusedError, String(error));
        assert.match(error.message, why);
        return true;
      };
      await assert.rejects(checkNodeRequest(asked), isTold);
      await assert.rejects(signer.sign(asked), isTold);
    });
  }

  test('a request that was tampered with', async () => {
    const csr = await createRequest(key, { ...subject, commonName: 'system:node:b' }, noNames);
    const der = Buffer.from(csr.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    der.write('a', der.indexOf('system:node:b') + 'system:node:'.length);
    const csrPem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    await assert.rejects(signer.sign(await request([], { usage: 'client', csrPem })), SigningRefusedError);
  });

  test('a message that grows with the number of names', async () => {
    const many = Array.from({ length: 500 }, (_, index) => `host-${index}.example`);
    await assert.rejects(signer.sign(await request(many)), /and 490 more are not known/);
  });
});
