import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import {
  createRequest,
  findFault,
  issueForRequest,
  noNames,
  readRequest,
} from '../../../../src/base/x509/index.ts';
import { makeAuthority, makeLeaf } from '../../../../src/testing/certificates/certificate.ts';

const issuer = { commonName: 'some-ca' };
const server = { serverNames: ['localhost', 'host.example.org'], serverAddress: '127.0.0.1' };
const times = [Date.UTC(2001, 0, 1), Date.now(), Date.UTC(2049, 11, 31), Date.UTC(2099, 11, 31)];

test('certificates are good for their use, at any time of the century', () => {
  const authority = makeAuthority(issuer);
  const serving = makeLeaf(authority, issuer, { commonName: 'kube-apiserver' }, server);
  const organizations = ['devs', 'Größe & Co, Ltd.'];
  const user = makeLeaf(authority, issuer, { commonName: 'ålice', organizations }, 'client');
  const names = { dnsNames: server.serverNames, ipAddresses: ['127.0.0.1'] };
  for (const now of times) {
    assert.equal(findFault(authority, { authority: authority.cert, use: 'authority', now }), undefined);
    assert.equal(findFault(serving, { authority: authority.cert, use: 'server', names, now }), undefined);
    assert.equal(findFault(user, { authority: authority.cert, use: 'client', now }), undefined);
  }
  const read = new X509Certificate(user.cert);
  assert.equal(read.subject, 'O=devs\nO=Größe & Co\\, Ltd.\nCN=ålice');
  assert.match(read.serialNumber, /^[4-7][0-9A-F]{31}$/);
  assert.ok(read.verify(new X509Certificate(authority.cert).publicKey));
  assert.equal(new X509Certificate(serving.cert).checkIP('127.0.0.1'), '127.0.0.1');
});

test('names of any length find their place', () => {
  const authority = makeAuthority(issuer);
  for (const length of [1, 127, 128, 255, 256, 5000]) {
    const commonName = 'x'.repeat(length);
    const { cert } = makeLeaf(authority, issuer, { commonName }, 'client');
    assert.equal(new X509Certificate(cert).subject, `CN=${commonName}`);
  }
});

test('the authority is one that the signer of node certificates can use', async () => {
  const authority = makeAuthority(issuer);
  const { key } = makeLeaf(authority, issuer, { commonName: 'n' }, 'client');
  const subject = { commonName: 'system:node:n', organizations: ['system:nodes'] };
  const request = await readRequest(await createRequest(key, subject, noNames));
  const issue = { subject, names: noNames, use: 'client', lifetimeMs: 60_000, now: Date.now() } as const;
  const cert = await issueForRequest(authority, request, issue);
  assert.equal(
    findFault({ cert, key }, { authority: authority.cert, use: 'client', now: Date.now() }),
    undefined,
  );
});
