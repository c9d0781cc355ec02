import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseProviders } from '../../../../../src/agent/images/credentials/providers/config.ts';
import { CredentialProviders } from '../../../../../src/agent/images/credentials/providers/providers.ts';
import type { RunProgram } from '../../../../../src/agent/images/credentials/providers/run.ts';
import { runProgram } from '../../../../../src/agent/images/credentials/providers/run.ts';
import { readProviders } from '../../../../../src/agent/images/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const provider = {
  name: 'cloud',
  matchImages: ['*.registry.example', 'https://one.example:5000/team'],
  defaultCacheDuration: '1h',
  apiVersion,
  args: ['get'],
  env: [{ name: 'PROFILE', value: 'x' }],
};
const configOf = (...providers: unknown[]) => ({
  apiVersion: 'kubelet.config.k8s.io/v1',
  kind: 'CredentialProviderConfig',
  providers,
});
const signal = new AbortController().signal;

const answerOf = (change: object = {}) =>
  JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion,
    cacheKeyType: 'Registry',
    auth: { '*.registry.example': { username: 'u', password: 'p' } },
    ...change,
  });

/** Providers of which each question is answered with what `answers` has next; the last one again and again. */
function providersThat(answers: readonly (string | Error)[], log = silentLogger()) {
  const clock = createManualClock();
  const asked: unknown[] = [];
  const run: RunProgram = async ({ program, args, env, input }) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? '';
    asked.push({ program, args, env, input: JSON.parse(input) });
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const providers = parseProviders(configOf(provider));
  const found = new CredentialProviders({
    providers,
    folder: '/bin',
    env: { HOME: '/root' },
    clock,
    log,
    run,
  });
  return { clock, asked, find: (repository: string) => found.find(repository, signal) };
}

describe('the file of credential providers', () => {
  test('is read, as YAML or JSON', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'providers.yaml');
    await writeFile(
      file,
      `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: cloud
  matchImages: ["*.registry.example"]
  defaultCacheDuration: 12h
  apiVersion: ${apiVersion}
`,
    );
    assert.deepEqual(await readProviders(file), [
      {
        name: 'cloud',
        patterns: ['*.registry.example'],
        defaultCacheMs: 12 * 3_600_000,
        apiVersion,
        args: [],
        env: {},
      },
    ]);
    await writeFile(file, '{"kind": "Other"}');
    await assert.rejects(readProviders(file), /describes no credential providers/);
  });

  test('is refused with what is wrong in it', () => {
    const table: readonly (readonly [unknown, RegExp])[] = [
      [[], /no object|must be a CredentialProviderConfig/],
      [{ ...configOf(provider), apiVersion: 'v1' }, /kubelet\.config\.k8s\.io\/v1/],
      [configOf(), /providers must not be empty/],
      [configOf(provider, provider), /two providers have the same name/],
      [configOf({ ...provider, name: '../evil' }), /providers\[0\]\.name must be the name of a file/],
      [configOf({ ...provider, name: '..' }), /providers\[0\]\.name/],
      [configOf({ ...provider, apiVersion: 'v1' }), /providers\[0\]\.apiVersion/],
      [configOf({ ...provider, matchImages: [] }), /providers\[0\]\.matchImages/],
      [configOf({ ...provider, matchImages: [''] }), /providers\[0\]\.matchImages/],
      [configOf({ ...provider, defaultCacheDuration: undefined }), /defaultCacheDuration/],
      [configOf({ ...provider, defaultCacheDuration: '-1s' }), /defaultCacheDuration/],
      [configOf({ ...provider, args: 'get' }), /args must be a list of texts/],
      [configOf({ ...provider, env: [{ name: 'A' }] }), /env\[0\] must have a name and a value/],
      [configOf({ ...provider, tokenAttributes: {} }), /tokenAttributes is not supported/],
    ];
    for (const [value, message] of table) assert.throws(() => parseProviders(value), message);
  });
});

describe('a credential provider', () => {
  test('is asked for the images that it is for, as the reference asks', async () => {
    const { asked, find } = providersThat([answerOf()]);
    assert.deepEqual(await find('other.example/app'), []);
    assert.deepEqual(await find('one.example/team/app'), []);
    assert.deepEqual(asked, []);
    assert.deepEqual(await find('a.registry.example/team/app'), [{ username: 'u', password: 'p' }]);
    assert.deepEqual(asked, [
      {
        program: '/bin/cloud',
        args: ['get'],
        env: { HOME: '/root', PROFILE: 'x' },
        input: { apiVersion, kind: 'CredentialProviderRequest', image: 'a.registry.example/team/app' },
      },
    ]);
  });

  test('is asked again when its answer does not count: for another image, registry, or later', async () => {
    for (const [cacheKeyType, expected] of [
      ['Image', 3],
      ['Registry', 2],
      ['Global', 1],
    ] as const) {
      const { asked, find, clock } = providersThat([answerOf({ cacheKeyType })]);
      for (const name of [
        'a.registry.example/x',
        'a.registry.example/y',
        'b.registry.example/x',
        'a.registry.example/x',
      ])
        await find(name);
      assert.equal(asked.length, expected, cacheKeyType);
      await clock.advance(3_600_000);
      await find('a.registry.example/x');
      assert.equal(asked.length, expected + 1, cacheKeyType);
    }
  });

  test('says itself how long its answer counts, also not at all', async () => {
    const { asked, find, clock } = providersThat([
      answerOf({ cacheDuration: '10s' }),
      answerOf({ cacheDuration: '0s' }),
    ]);
    for (const ms of [9000, 1000, 0, 0]) {
      await find('a.registry.example/x');
      await clock.advance(ms);
    }
    assert.equal(asked.length, 3);
  });

  test('that is asked for one image at the same time is asked once', async () => {
    const { asked, find } = providersThat([answerOf()]);
    await Promise.all([1, 2, 3].map(() => find('a.registry.example/x')));
    assert.equal(asked.length, 1);
  });

  test('that answers nothing of use is logged, without its answer, and asked again', async () => {
    const { log, text } = recordedLog();
    const wrong = [
      new Error('it ended with 1'),
      'secret nonsense',
      answerOf({ kind: 'Other' }),
      answerOf({ apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1' }),
      answerOf({ cacheKeyType: 'Node' }),
      answerOf({ cacheDuration: 'soon' }),
    ];
    const { find } = providersThat([...wrong, answerOf()], log);
    for (const _ of wrong) assert.deepEqual(await find('a.registry.example/x'), []);
    assert.equal((await find('a.registry.example/x')).length, 1);
    assert.equal(text().match(/the credential provider cloud gave nothing/g)?.length, wrong.length);
    assert.doesNotMatch(text(), /secret nonsense|"password"/);
  });
});

describe('the program of a provider', () => {
  const call = (script: string, more: Partial<Parameters<RunProgram>[0]> = {}) =>
    runProgram({
      program: '/bin/sh',
      args: ['-c', script],
      env: { A: 'b' },
      input: 'question',
      signal,
      ...more,
    });

  test('is given the question and answers', async () => {
    assert.equal(await call('cat; printf " %s" "$A"'), 'question b');
    assert.equal(await call('exec 0<&-; echo unread', { input: 'x'.repeat(300_000) }), 'unread\n');
  });

  test('fails with what it says', async () => {
    await assert.rejects(call('echo no account >&2; exit 3'), /^Error: it ended with 3: no account$/);
    await assert.rejects(call('kill -9 $$'), /it ended with SIGKILL/);
    await assert.rejects(call('', { program: '/nowhere/program' }), /ENOENT/);
    await assert.rejects(call('yes | head -c 3000000'), /it wrote more than/);
  });

  test('is ended with what it has started when it takes too long', async () => {
    await using folder = await temporaryFolder();
    const stop = new AbortController();
    const file = join(folder.path, 'pid');
    const ended = assert.rejects(
      call(`sleep 1000 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`, { signal: stop.signal }),
      /it did not end in time/,
    );
    const pid = Number(await waitFor('the pid', () => readFile(file, 'utf8')));
    stop.abort();
    await ended;
    await waitFor('the child to end', async () => {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '(gone) Z');
      return / Z/.test(state);
    });
  });
});
