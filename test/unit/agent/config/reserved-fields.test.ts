import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LiveConfig, loadConfig } from '../../../../src/agent/config/index.ts';
import { configFiles } from './config-files.ts';

const lines = {
  system: 'systemReserved: {cpu: 500m, memory: 1Gi, pid: "1000"}\nsystemReservedCgroup: /system.slice\n',
  kube: 'kubeReserved: {cpu: "1", memory: 2Gi}\nkubeReservedCgroup: /podruntime.slice\n',
};

async function load(text: string) {
  await using folder = await configFiles({ 'c.yaml': text });
  return await loadConfig({ config: join(folder.path, 'c.yaml'), flags: {} });
}

const enforcementOf = async (text: string) => (await load(text)).config.enforcement;

describe('who is held to what is reserved', () => {
  test('pods by default, and nobody where it says so', async () => {
    assert.deepEqual(await enforcementOf(lines.system), { pods: true, groups: [] });
    assert.deepEqual(await enforcementOf('enforceNodeAllocatable: [none]'), { pods: false, groups: [] });
    assert.deepEqual(await enforcementOf('enforceNodeAllocatable: []'), { pods: false, groups: [] });
  });

  test('the system and the agents, wholly or by their part of the processors alone', async () => {
    const both = 'enforceNodeAllocatable: [pods, system-reserved, kube-reserved-compressible]';
    const { config, warnings } = await load(`${lines.system}${lines.kube}${both}`);
    assert.deepEqual(warnings, []);
    assert.deepEqual(config.enforcement, {
      pods: true,
      groups: [
        {
          ...{ side: 'system', isCompressible: false, cgroup: '/system.slice' },
          ...{ cpuMillis: 500, memoryBytes: 2 ** 30, pids: 1000 },
        },
        { side: 'kube', isCompressible: true, cgroup: '/podruntime.slice', cpuMillis: 1000 },
      ],
    });
    const { pods, groups } = await enforcementOf(`${lines.kube}enforceNodeAllocatable: [kube-reserved]`);
    assert.deepEqual([pods, groups.length], [false, 1]);
    assert.deepEqual(groups[0], {
      ...{ side: 'kube', isCompressible: false, cgroup: '/podruntime.slice' },
      ...{ cpuMillis: 1000, memoryBytes: 2 ** 31, pids: undefined },
    });
  });

  test('what cannot be meant is refused, with the place', async () => {
    const bad: Record<string, RegExp> = {
      'enforceNodeAllocatable: [nodes]': /c\.yaml:3:25: enforceNodeAllocatable: "nodes" is not one of pods, /,
      'enforceNodeAllocatable: [none, pods]': /none cannot be beside others/,
      [`${lines.system}enforceNodeAllocatable: [system-reserved, system-reserved-compressible]`]:
        /:5:25: enforceNodeAllocatable: has both system-reserved and system-reserved-compressible/,
      'systemReserved: {cpu: "1"}\nenforceNodeAllocatable: [system-reserved]':
        /system-reserved needs systemReservedCgroup/,
      'kubeReservedCgroup: /a\nenforceNodeAllocatable: [pods, kube-reserved-compressible]':
        /kube-reserved-compressible needs kubeReserved, which says how much/,
      'systemReservedCgroup: /': /systemReservedCgroup: "\/" is no cgroup below that of the machine/,
      'kubeReservedCgroup: /a/../..': /"\/a\/\.\.\/\.\." is no cgroup below/,
      [`${lines.system}kubeReserved: {cpu: "1"}\nkubeReservedCgroup: system.slice/\nenforceNodeAllocatable: [system-reserved, kube-reserved]`]:
        /:6:21: kubeReservedCgroup: must be another cgroup than systemReservedCgroup/,
    };
    for (const [text, message] of Object.entries(bad)) await assert.rejects(load(text), message, text);
  });

  test('a reload changes the amounts; for whom they count waits for the next start', async () => {
    const enforce = 'enforceNodeAllocatable: [system-reserved]\n';
    let next = `${lines.system}${enforce}`;
    const live = new LiveConfig({
      first: await load(next),
      load: () => load(next),
      prepare: async () => () => undefined,
    });
    next = `${next.replace('1Gi', '3Gi').replace('/system.slice', '/other.slice')}${lines.kube}`;
    const { applied, pending } = await live.reload();
    assert.deepEqual(applied, ['kubeReserved', 'systemReserved']);
    assert.deepEqual(pending, ['kubeReservedCgroup', 'systemReservedCgroup']);
    const { groups } = live.current.enforcement;
    assert.partialDeepStrictEqual(groups, [{ cgroup: '/system.slice', memoryBytes: 3 * 2 ** 30 }]);
  });
});
