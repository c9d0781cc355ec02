import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodeArchitecture, readArchitecture } from '../../../../src/agent/seccomp/index.ts';
import { computeEditDistance, findNearestName } from '../../../../src/base/nearest-name.ts';
import { syscalls } from './sample-profile.ts';

describe('the table of system calls', () => {
  test('has their numbers by architecture', () => {
    const numbers = (name: string) =>
      (['X86_64', 'X86', 'X32', 'ARM', 'AARCH64', 'RISCV64', 'PPC64LE', 'S390X', 'MIPSEL64'] as const).map(
        (each) => syscalls.numberOf(name, `SCMP_ARCH_${each}`),
      );
    assert.deepEqual(numbers('read'), [0, 3, 0, 3, 63, 63, 3, 3, 0]);
    assert.deepEqual(numbers('open'), [2, 5, 2, 5, undefined, undefined, 5, 5, 2]);
    assert.deepEqual(new Set(numbers('clone3')), new Set([435]));
    assert.deepEqual(
      numbers('set_tls').filter((each) => each !== undefined),
      [0x0f_0005],
      'of ARM alone',
    );
    assert.equal(syscalls.hasTableOf('SCMP_ARCH_S390'), false);
    assert.ok(!syscalls.has('no_such_call') && !syscalls.has('constructor'));
  });

  test('two calls of one architecture never share a number', () => {
    for (const each of [
      'SCMP_ARCH_X86_64',
      'SCMP_ARCH_X86',
      'SCMP_ARCH_AARCH64',
      'SCMP_ARCH_RISCV64',
      'SCMP_ARCH_S390X',
    ] as const) {
      const numbers = syscalls.names.flatMap((name) => syscalls.numberOf(name, each) ?? []);
      assert.equal(new Set(numbers).size, numbers.length, each);
      assert.ok(numbers.length > 300, each);
    }
  });
});

describe('a name', () => {
  test('is as far from another as characters must change', () => {
    assert.equal(computeEditDistance('read', 'read'), 0);
    assert.equal(computeEditDistance('raed', 'read'), 1, 'an exchange is one change');
    assert.equal(computeEditDistance('', 'read'), 4);
    assert.equal(computeEditDistance('kitten', 'sitting'), 3);
  });

  test('is near to one that may be meant, and to none that is too different', () => {
    assert.equal(findNearestName('opneat', syscalls.names), 'openat');
    assert.equal(findNearestName('getppid ', syscalls.names), 'getppid');
    assert.equal(findNearestName('zzzzzzzz', syscalls.names), undefined);
    assert.equal(findNearestName('x'.repeat(5000), syscalls.names), undefined);
  });
});

describe('an architecture', () => {
  test('goes by several names', () => {
    assert.equal(nodeArchitecture('x64'), 'SCMP_ARCH_X86_64');
    assert.equal(nodeArchitecture('arm64'), 'SCMP_ARCH_AARCH64');
    assert.throws(() => nodeArchitecture('toString'), /no seccomp architecture/);
    for (const text of ['SCMP_ARCH_X86_64', 'x86_64', 'amd64', 'x64'])
      assert.equal(readArchitecture(text), 'SCMP_ARCH_X86_64');
    assert.equal(readArchitecture('vax'), undefined);
  });
});
