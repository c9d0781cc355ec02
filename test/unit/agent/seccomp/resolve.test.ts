import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FoundProfile, SelectedSeccomp } from '../../../../src/agent/seccomp/index.ts';
import {
  containersOf,
  ignoredSeccompAnnotations,
  resolveSeccomp,
  sandboxSeccomp,
  selectSeccomp,
} from '../../../../src/agent/seccomp/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { denying, judge } from './sample-profile.ts';

type Profile = { type: string; localhostProfile?: string } | undefined;

const folder = '/var/lib/nodeward/seccomp';
const runtimeDefault = { profileType: 0, localhostRef: '' };
const unconfined = { profileType: 1, localhostRef: '' };

function pod(ofPod: Profile, own: Profile, more: { privileged?: boolean } = {}): Pod {
  const securityContext = { ...(own === undefined ? {} : { seccompProfile: own }), ...more };
  return {
    metadata: { name: 'web' },
    spec: {
      ...(ofPod === undefined ? {} : { securityContext: { seccompProfile: ofPod } }),
      containers: [{ name: 'main', securityContext }, { name: 'side' }],
      initContainers: [{ name: 'init' }],
      ephemeralContainers: [{ name: 'debug' }],
    },
  };
}

const localhost = (localhostProfile: string) => ({ type: 'Localhost', localhostProfile });
const good = judge(denying());
const bad = judge(denying({ names: ['read'], action: 'SCMP_ACT_NO' }));

async function resolve(
  of: Pod,
  name = 'main',
  found: FoundProfile = { kind: 'missing' },
  seccompDefault = false,
) {
  return await resolveSeccomp(of, name, { seccompDefault, folder, find: async () => found });
}

const refusal = async (...asked: Parameters<typeof resolve>) => {
  const found = await resolve(...asked);
  assert.equal(found.type, 'refused');
  return found.type === 'refused' ? `${found.reason}: ${found.message}` : '';
};

describe('the profile of a container', () => {
  test('is its own before its pod’s, which containers of every sort inherit', async () => {
    const both = pod({ type: 'Unconfined' }, { type: 'RuntimeDefault' });
    assert.deepEqual(await resolve(both), {
      type: 'resolved',
      wanted: { type: 'RuntimeDefault', from: 'container' },
      profile: runtimeDefault,
    });
    assert.deepEqual(
      containersOf(both).map(({ name }) => name),
      ['init', 'main', 'side', 'debug'],
    );
    for (const name of ['side', 'init', 'debug'])
      assert.deepEqual(await resolve(both, name), {
        type: 'resolved',
        wanted: { type: 'Unconfined', from: 'pod' },
        profile: unconfined,
      });
    assert.deepEqual(sandboxSeccomp, runtimeDefault);
    await assert.rejects(resolve(both, 'other'), /no container "other"/);
  });

  test('that is not said is the runtime’s with seccompDefault, and none without', async () => {
    const nothing = pod(undefined, undefined);
    const on = await resolve(nothing, 'main', undefined, true);
    assert.deepEqual(on, {
      type: 'resolved',
      wanted: { type: 'RuntimeDefault', from: 'default' },
      profile: runtimeDefault,
    });
    const off = await resolve(nothing);
    assert.deepEqual(off, {
      type: 'resolved',
      wanted: { type: 'Unconfined', from: 'default' },
      profile: unconfined,
    });
  });

  test('with seccompDefault cannot become none by its type', () => {
    const wanted = selectSeccomp(pod(undefined, undefined), 'main', { seccompDefault: true });
    // the compiler refuses a branch for an unset profile that is unconfined
    type UnsetAndUnconfined = Extract<SelectedSeccomp<true>, { type: 'Unconfined'; from: 'default' }>;
    const none: UnsetAndUnconfined[] = [];
    const proof: never[] = none;
    assert.equal(proof.length, 0);
    assert.equal(wanted.type, 'RuntimeDefault');
  });

  test('of this node is its file, with what is known of it', async () => {
    const found = { kind: 'found', path: `${folder}/a/b.json`, judgement: good } as const;
    assert.deepEqual(await resolve(pod(localhost('a/b.json'), undefined), 'init', found), {
      type: 'resolved',
      wanted: { type: 'Localhost', from: 'pod', localhostProfile: 'a/b.json' },
      profile: { profileType: 2, localhostRef: `${folder}/a/b.json` },
      judgement: good,
    });
  });

  test('that is missing, outside or not valid lets no container be made', async () => {
    const of = pod(undefined, localhost('a.json'));
    const start = 'CreateContainerError: failed to create containerd container: cannot load seccomp profile';
    const path = `${folder}/a.json`;
    assert.equal(await refusal(of), `${start} "${path}": open ${path}: no such file or directory`);
    assert.equal(
      await refusal(of, 'main', { kind: 'refused', reason: 'it is not a regular file' }),
      `${start} "${path}": it is not a regular file`,
    );
    assert.match(
      await refusal(of, 'main', { kind: 'found', path, judgement: bad }),
      /: it is not valid: syscalls\[1\]\.action: "SCMP_ACT_NO" is not one of /,
    );
    const outside = ['../a.json', 'a/../../b', '/etc/passwd', '.', 'a/', 'a\0b', './/', 'x'.repeat(5000)];
    for (const name of outside) {
      const find = () => assert.fail('it must not be looked for');
      const found = await resolveSeccomp(pod(localhost(name), undefined), 'main', {
        seccompDefault: true,
        folder,
        find,
      });
      assert.equal(found.type === 'refused' && found.reason, 'CreateContainerError', name);
    }
  });

  test('that is named wrongly is an error, where the reference would run some unconfined', async () => {
    assert.equal(
      await refusal(pod(undefined, { type: 'Localhost' })),
      'CreateContainerConfigError: localhostProfile must be set if seccompProfile type is Localhost.',
    );
    assert.match(
      await refusal(pod({ type: 'Strict' }, undefined)),
      /seccompProfile type "Strict" is not known/,
    );
  });

  test('of a privileged container is none, as runtimes have it', async () => {
    for (const own of [undefined, { type: 'RuntimeDefault' }, localhost('a.json')]) {
      const found = await resolve(pod(undefined, own, { privileged: true }), 'main', undefined, true);
      assert.deepEqual(found, {
        type: 'resolved',
        wanted: { type: 'Unconfined', from: 'privileged' },
        profile: unconfined,
      });
    }
  });

  test('is not what old annotations say, and they are told', async () => {
    const of = pod(undefined, undefined);
    const annotations = {
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/main': 'unconfined',
      other: '',
    };
    of.metadata = { ...of.metadata, annotations };
    assert.equal((await resolve(of, 'main', undefined, true)).type, 'resolved');
    assert.equal(selectSeccomp(of, 'main', { seccompDefault: true }).type, 'RuntimeDefault');
    assert.deepEqual(ignoredSeccompAnnotations(of), Object.keys(annotations).slice(0, 2));
  });

  test('is never none with seccompDefault, unless somebody says so or it is privileged', async () => {
    const profile = fc.option(
      fc.record(
        {
          type: fc.constantFrom('RuntimeDefault', 'Unconfined', 'Localhost', '', 'other'),
          localhostProfile: fc.string(),
        },
        { requiredKeys: ['type'] },
      ),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(profile, profile, fc.boolean(), async (ofPod, own, privileged) => {
        const of = pod(ofPod, own, { privileged });
        for (const { name = '' } of containersOf(of)) {
          const found = await resolve(of, name, undefined, true);
          if (found.type === 'refused' || found.profile.profileType !== 1) continue;
          const stated = name === 'main' ? (own ?? ofPod) : ofPod;
          assert.ok((privileged && name === 'main') || stated?.type === 'Unconfined');
        }
      }),
    );
  });
});
