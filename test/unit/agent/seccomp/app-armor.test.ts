import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostAppArmor } from '../../../../src/agent/seccomp/index.ts';
import { resolveAppArmor } from '../../../../src/agent/seccomp/index.ts';
import type { Pod } from '../../../../src/api/index.ts';

const host = { enabled: true, loaded: new Set(['web', 'shop']) };
const localhost = (localhostProfile: string) => ({ type: 'Localhost', localhostProfile });

function pod(parts: { own?: object; annotation?: string; ofPod?: object }): Pod {
  const { own, annotation, ofPod } = parts;
  const of = (appArmorProfile: object | undefined) =>
    appArmorProfile === undefined
      ? {}
      : { securityContext: { appArmorProfile: { type: '', ...appArmorProfile } } };
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/main': annotation ?? '' };
  return {
    metadata: { name: 'web', ...(annotation === undefined ? {} : { annotations }) },
    spec: { ...of(ofPod), containers: [{ name: 'main', ...of(own) }] },
  };
}

function resolve(parts: Parameters<typeof pod>[0], on: HostAppArmor = host): unknown {
  const found = resolveAppArmor(pod(parts), 'main', on);
  return found.type === 'refused' ? `${found.reason}: ${found.message}` : found.profile;
}

describe('the AppArmor profile of a container', () => {
  test('is its own, else its annotation’s, else its pod’s, else the runtime’s choice', () => {
    const all = { own: localhost('web'), annotation: 'localhost/shop', ofPod: { type: 'Unconfined' } };
    assert.deepEqual(resolve(all), { profileType: 2, localhostRef: 'web' });
    assert.deepEqual(resolve({ annotation: all.annotation, ofPod: all.ofPod }), {
      profileType: 2,
      localhostRef: 'shop',
    });
    assert.deepEqual(resolve({ ofPod: all.ofPod }), { profileType: 1, localhostRef: '' });
    assert.deepEqual(resolve({ annotation: 'runtime/default' }), { profileType: 0, localhostRef: '' });
    assert.equal(resolve({}), undefined);
    assert.equal(resolve({}, { enabled: false }), undefined);
  });

  test('must be loaded, on a host that has AppArmor', () => {
    assert.equal(
      resolve({ own: localhost('gone') }),
      'CreateContainerError: failed to generate apparmor spec opts: apparmor profile not found gone',
    );
    for (const own of [localhost('web'), { type: 'RuntimeDefault' }])
      assert.equal(
        resolve({ own }, { enabled: false }),
        'CreateContainerError: Cannot enforce AppArmor: AppArmor is not enabled on the host',
      );
    assert.deepEqual(resolve({ own: localhost('gone') }, { enabled: true }), {
      profileType: 2,
      localhostRef: 'gone',
    });
  });

  test('that is named wrongly is an error', () => {
    assert.match(String(resolve({ own: { type: 'Localhost' } })), /missing localhost apparmor profile name/);
    assert.match(String(resolve({ own: { type: 'X' } })), /unknown apparmor profile type: "X"/);
    assert.match(
      String(resolve({ annotation: 'localhost/' })),
      /invalid AppArmor profile name: "localhost\/"/,
    );
  });
});
