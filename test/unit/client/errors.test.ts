import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConnectionFailure } from '../../../src/client/errors.ts';
import { ConnectionError, toConnectionError } from '../../../src/client/errors.ts';

describe('what went wrong with a connection is told by its code', () => {
  const cases: [string, ConnectionFailure][] = [
    ['ECONNREFUSED', 'refused'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['ENOTFOUND', 'unknownHost'],
    ['EAI_AGAIN', 'unknownHost'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
    ['CERT_HAS_EXPIRED', 'untrusted'],
    ['CERT_NOT_YET_VALID', 'untrusted'],
    ['CERT_REVOKED', 'untrusted'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
    ['INVALID_PURPOSE', 'untrusted'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'rejected'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'rejected'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'rejected'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'rejected'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'unintelligible'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'broken'],
    ['ECONNRESET', 'broken'],
    ['EPIPE', 'broken'],
    ['UND_ERR_SOCKET', 'broken'],
    ['', 'broken'],
  ];
  for (const [code, reason] of cases) {
    test(`${code} is ${reason}`, () => {
      const cause = Object.assign(new Error('of the system'), { code });
      const error = toConnectionError('https://host:1', new Error('outer', { cause }));
      assert.equal(error.reason, reason);
      assert.match(error.message, /https:\/\/host:1 .*\(outer: of the system\)$/);
    });
  }

  test('what TLS says is told without the places in its sources', () => {
    const alert = Object.assign(
      new Error('402D:error:0A00045C:SSL routines:../deps/openssl/rec_layer_s3.c:916:'),
      {
        code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
        reason: 'tlsv13 alert certificate required',
      },
    );
    assert.equal(
      toConnectionError('https://host:1', alert).message,
      'https://host:1 does not accept the client certificate, or wants one (tlsv13 alert certificate required)',
    );
  });

  test('one that is told already stays as it is', () => {
    const error = new ConnectionError('timeout', 'so it is');
    assert.equal(toConnectionError('https://host:1', error), error);
  });

  test('what is no error at all is told too', () => {
    assert.equal(
      toConnectionError('https://host:1', 'odd').message,
      'the connection to https://host:1 broke (odd)',
    );
  });
});
