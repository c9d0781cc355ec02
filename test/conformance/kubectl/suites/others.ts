import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiVersionOf, groupName } from '../../../../src/api/index.ts';
import { sampleOf, storedKinds } from '../../../unit/apiserver/http/encodings/samples.ts';
import { listOf } from '../each-kind.ts';
import type { Manifest } from '../manifests.ts';
import type { Release } from '../release.ts';
import { storedForOthers } from '../served.ts';
import type { OpenShell } from '../shell.ts';
import { linesOf } from '../tables.ts';

/** Kinds that older releases describe by asking for versions that nobody serves any more. */
function undescribed(minor: number): readonly string[] {
  const old = ['CronJob', 'EndpointSlice', 'HorizontalPodAutoscaler', 'Ingress', 'PodDisruptionBudget'];
  return [...(minor > 32 ? [] : ['ServiceCIDR', 'VolumeAttributesClass']), ...(minor > 20 ? [] : old)];
}

/** The kinds of which the other suites have no object; those whose name says what they are have no sample. */
const others = storedKinds.filter(({ group, version, kind }) =>
  storedForOthers.some(
    ([, apiVersion, , name]) => name === kind && apiVersion === apiVersionOf({ group, version }, 'k8s.io'),
  ),
);

/** `deployments.v1.apps`, as an argument. */
function argumentOf({ group, version, resource }: (typeof others)[number]): string {
  return group === '' ? resource : `${resource}.${version}.${groupName(group, 'k8s.io')}`;
}

function manifests(name: string, namespace: string): Manifest[] {
  const samples = others.map((kind) => {
    const { metadata, ...rest } = sampleOf(kind, name);
    const place = kind.namespaced ? { namespace } : {};
    return {
      apiVersion: apiVersionOf(kind, 'k8s.io'),
      kind: kind.kind,
      ...rest,
      metadata: { ...metadata, ...place },
    };
  });
  const apiService = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${name}.example.com` },
    spec: { group: `${name}.example.com`, version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 },
  };
  return [...samples, apiService];
}

export function othersSuite(open: OpenShell, { minor }: Release): void {
  describe('kinds that other programs use', () => {
    test('are made, listed, described, changed and deleted, all at once', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('create -f -', listOf(manifests(name, name)));
      const all = others.map(argumentOf).join();
      const rows = linesOf(await shell.ok(`get ${all} --output=wide`)).filter((line) => line.includes(name));
      assert.ok(rows.length >= others.length, rows.join('\n'));
      const described = others.filter(({ kind }) => !undescribed(minor).includes(kind));
      for (const part of [
        described.filter((kind) => kind.namespaced),
        described.filter((kind) => !kind.namespaced),
      ]) {
        const text = await shell.ok(`describe ${part.map(argumentOf).join()} ${name}`);
        assert.equal(text.match(new RegExp(`^Name: +${name}$`, 'gm'))?.length, part.length, text);
      }
      await shell.ok(`annotate ${all} ${name} note=kept`);
      assert.match(await shell.ok(`get apiservices v1.${name}.example.com`), /Local/);
      await shell.ok(`delete ${all} ${name} --wait=false`);
      await shell.ok(`delete apiservice v1.${name}.example.com`);
    });

    // by one release: each kind is a process
    if (minor > 32) {
      test('are explained', async () => {
        await using shell = await open();
        for (const [name, apiVersion, , kind] of storedForOthers) {
          const text = await shell.ok(`explain ${name} --api-version=${apiVersion}`);
          assert.match(text, new RegExp(`^KIND: +${kind}$`, 'm'));
          assert.match(text, /^FIELDS:\n +\w+\t</m, `${kind} has fields`);
        }
      });
    }

    test('are made by kubectl: a deployment is exposed, scaled and scales by itself', async () => {
      await using shell = await open();
      await shell.ok('create deployment web --image=registry.example.com/web:1');
      await shell.ok('expose deployment web --port=80 --target-port=8080');
      assert.match(await shell.ok('get service web --output=wide'), /app=web/);
      await shell.ok('scale deployment web --replicas=2');
      assert.equal(await shell.ok('get deployment web -o jsonpath={.spec.replicas}'), '2');
      await shell.ok('autoscale deployment web --min=2 --max=5 --cpu-percent=60');
      assert.match(await shell.ok('get hpa web'), /Deployment\/web .* 2 +5 /);
      const old = await shell.ok('get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec}');
      assert.match(old, /"targetCPUUtilizationPercentage":60/);
      const editor = await shell.editor('s/maxReplicas: 5/maxReplicas: 6/');
      await shell.ok('edit horizontalpodautoscalers.v1.autoscaling web', undefined, editor);
      assert.equal(await shell.ok('get hpa web -o jsonpath={.spec.maxReplicas}'), '6');
      assert.match(await shell.ok('get componentstatuses'), /etcd-0 +Healthy +ok/);
    });
  });
}
