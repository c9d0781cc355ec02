import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListenAddress } from '../../../../src/base/https/index.ts';
import { listenError } from '../../../../src/base/https/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';

const listen: ListenAddress = {
  who: 'the API',
  address: '192.0.2.1',
  port: 443,
  addressSetting: '--bind-address',
  portSetting: '--secure-port',
};

function failure(code: string): Error {
  return Object.assign(new Error(`listen ${code}`), { code });
}

test('a server that cannot listen reports where, why and what to change', () => {
  const cases = {
    EADDRINUSE: 'another process uses that port; choose another with --secure-port',
    EADDRNOTAVAIL: 'this machine has no such address; choose another with --bind-address',
    EACCES: 'this user may not use that port; choose one above 1023 with --secure-port',
    ENOBUFS: 'listen ENOBUFS',
  };
  for (const [code, reason] of Object.entries(cases)) {
    const error = listenError(failure(code), listen);
    assert.equal(error.exitCode, exitCodes.address);
    assert.equal(error.message, `the API cannot listen on 192.0.2.1:443: ${reason}`);
  }
});

test('an IPv6 address is in brackets', () => {
  const { message } = listenError(failure('EACCES'), { ...listen, address: '::1' });
  assert.match(message, /cannot listen on \[::1\]:443:/);
});
