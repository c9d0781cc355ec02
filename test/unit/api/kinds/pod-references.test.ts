import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { listPodReferences } from '../../../../src/api/index.ts';

type Spec = Partial<NonNullable<Pod['spec']>>;
const containers = [{ name: 'main', image: 'app:1' }];
const names = (spec: Spec) =>
  listPodReferences({ metadata: { name: 'web' }, spec: { containers, ...spec } }).map(
    ({ resource, name }) => `${resource}/${name}`,
  );
const env = (more: object) => [{ name: 'main', image: 'app:1', ...more }];
const volume = (source: object) => [{ name: 'v', ...source }];
const secretRef = { name: 's' };

describe('what a pod names', () => {
  const rows: [string, Spec, string[]][] = [
    ['nothing', {}, []],
    ['its service account', { serviceAccountName: 'bot' }, ['serviceaccounts/bot']],
    ['secrets to pull images', { imagePullSecrets: [{ name: 's' }, {}] }, ['secrets/s']],
    [
      'keys in the environment',
      {
        containers: env({
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
            { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
            { name: 'C', value: 'plain' },
          ],
        }),
      },
      ['secrets/s', 'configmaps/c'],
    ],
    [
      'the environment of containers before the others',
      { initContainers: env({ envFrom: [{ secretRef }, { configMapRef: { name: 'c' } }] }) },
      ['secrets/s', 'configmaps/c'],
    ],
    [
      'the environment of containers for debugging',
      { ephemeralContainers: env({ envFrom: [{ secretRef }] }) },
      ['secrets/s'],
    ],
    ['a volume of a Secret', { volumes: volume({ secret: { secretName: 's' } }) }, ['secrets/s']],
    ['a volume of a ConfigMap', { volumes: volume({ configMap: { name: 'c' } }) }, ['configmaps/c']],
    [
      'what is projected together',
      {
        volumes: volume({
          projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }] },
        }),
      },
      ['secrets/s', 'configmaps/c'],
    ],
    [
      'the secret of an Azure share',
      { volumes: volume({ azureFile: { secretName: 's', shareName: 'x' } }) },
      ['secrets/s'],
    ],
    [
      'the secret of a CSI driver',
      { volumes: volume({ csi: { driver: 'd', nodePublishSecretRef: secretRef } }) },
      ['secrets/s'],
    ],
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
      (source): [string, Spec, string[]] => [
        `the secret of a volume ${source}`,
        { volumes: volume({ [source]: { secretRef } }) },
        ['secrets/s'],
      ],
    ),
    [
      'a claim',
      { volumes: volume({ persistentVolumeClaim: { claimName: 'p' } }) },
      ['persistentvolumeclaims/p'],
    ],
    ['a claim made for it', { volumes: volume({ ephemeral: {} }) }, ['persistentvolumeclaims/web-v']],
    ['a folder', { volumes: volume({ emptyDir: {} }) }, []],
  ];
  for (const [what, spec, expected] of rows) {
    test(what, () => assert.deepEqual(names(spec), expected));
  }
});
