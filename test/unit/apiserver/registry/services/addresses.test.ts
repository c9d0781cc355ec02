/** Which address a service gets, of what is free and of what it says. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal, servicesWorld } from './world.ts';

const web = { ports: [{ port: 80 }] };
const small = (...clusterIPs: string[]) => ({ clusterIPs, nodePorts: [30_000, 30_009] as const });

describe('the address of a service', () => {
  test('is of the range, unlike any other, and not of those that are kept for requests', async () => {
    const { create } = await servicesWorld();
    const made = await Promise.all(Array.from({ length: 238 }, (_, index) => create(`s${index}`, web)));
    const addresses = made.map(({ spec }) => spec?.clusterIP ?? '');
    assert.equal(new Set(addresses).size, 238);
    for (const address of addresses) {
      const last = Number(/^10\.0\.0\.(\d+)$/.exec(address)?.[1]);
      assert.ok(last >= 17 && last <= 254, address);
    }
    const { spec } = await create('more', web);
    assert.match(spec?.clusterIP ?? '', /^10\.0\.0\.([1-9]|1[0-6])$/);
    assert.deepEqual(spec?.clusterIPs, [spec?.clusterIP]);
    assert.deepEqual([spec?.ipFamilies, spec?.ipFamilyPolicy], [['IPv4'], 'SingleStack']);
  });

  test('is the one that it states, when that is free and in the range', async () => {
    const { create, remove } = await servicesWorld();
    const stated = { ...web, clusterIP: '10.0.0.5' };
    assert.deepEqual((await create('a', stated)).spec?.clusterIPs, ['10.0.0.5']);
    assert.equal(
      await refusal(create('b', stated)),
      'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated',
    );
    for (const address of ['10.0.0.0', '10.0.0.255', '10.0.1.1'])
      assert.equal(
        await refusal(create('b', { ...web, clusterIP: address })),
        `Service "b" is invalid: spec.clusterIPs: Invalid value: ["${address}"]: failed to allocate IP ${address}: the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.0.0.0/24`,
      );
    await remove('a');
    assert.equal((await create('b', stated)).spec?.clusterIP, '10.0.0.5');
  });

  test('is given once, also to requests at the same moment', async () => {
    const { create } = await servicesWorld();
    const stated = { ...web, clusterIP: '10.0.0.9' };
    const said = await Promise.all(['a', 'b', 'c'].map((name) => refusal(create(name, stated))));
    assert.equal(said.filter((text) => text === 'accepted').length, 1);
    assert.equal(said.filter((text) => text.includes('provided IP is already allocated')).length, 2);
  });

  test('is free again when the write failed, and is not taken by a dry run', async () => {
    const { create } = await servicesWorld();
    const stated = { ...web, clusterIP: '10.0.0.9' };
    await create('dry', stated, true);
    const bad = { clusterIP: '10.0.0.9', ports: [{ port: 0 }] };
    assert.match(
      await refusal(create('a', bad)),
      /spec\.ports\[0\]\.port: Invalid value: 0: must be between/,
    );
    assert.equal((await create('a', stated)).spec?.clusterIP, '10.0.0.9');
  });

  test('is none for a service that wants none, or is another name only', async () => {
    const { create } = await servicesWorld();
    const headless = await create('a', { clusterIP: 'None', selector: { app: 'a' } });
    assert.deepEqual([headless.spec?.clusterIP, headless.spec?.clusterIPs], ['None', ['None']]);
    assert.deepEqual(headless.spec?.ipFamilies, ['IPv4']);
    const open = await create('b', { clusterIP: 'None' });
    assert.deepEqual(
      [open.spec?.ipFamilies, open.spec?.ipFamilyPolicy],
      [['IPv4', 'IPv6'], 'RequireDualStack'],
    );
    const alias = await create('c', { type: 'ExternalName', externalName: 'example.com' });
    assert.deepEqual([alias.spec?.clusterIP, alias.spec?.ipFamilies], [undefined, undefined]);
  });

  test('is refused when the range is full', async () => {
    const { create, remove } = await servicesWorld(small('10.1.0.0/29'));
    for (let count = 0; count < 6; count++) await create(`s${count}`, web);
    assert.equal(
      await refusal(create('more', web)),
      'Internal error occurred: failed to allocate a serviceIP: range is full',
    );
    await remove('s3');
    assert.match((await create('more', web)).spec?.clusterIP ?? '', /^10\.1\.0\.[1-6]$/);
  });

  test('stays over a change, also by a client that does not say it', async () => {
    const { create, replace, change } = await servicesWorld();
    const { spec: made } = await create('a', web);
    const { spec } = await replace('a', { ports: [{ port: 81 }] });
    assert.deepEqual([spec?.clusterIP, spec?.clusterIPs], [made?.clusterIP, made?.clusterIPs]);
    assert.match(
      await refusal(change('a', (old) => ({ ...old, clusterIP: '10.0.0.3' }))),
      /spec\.clusterIPs\[0\]: Invalid value: \["10\.0\.0\.3"\]: may not change once set/,
    );
  });

  test('goes when the service becomes another name, and comes back with another type', async () => {
    const { create, change } = await servicesWorld();
    const { spec: made } = await create('a', { ...web, clusterIP: '10.0.0.7' });
    assert.equal(made?.clusterIP, '10.0.0.7');
    const alias = await change('a', (spec) => ({
      ...spec,
      type: 'ExternalName',
      externalName: 'example.com',
    }));
    const { clusterIP, clusterIPs, ipFamilies } = alias.spec ?? {};
    assert.deepEqual(
      { clusterIP, clusterIPs, ipFamilies },
      { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined },
    );
    await create('b', { ...web, clusterIP: '10.0.0.7' });
    const back = await change('a', ({ externalName: _name, ...spec }) => ({ ...spec, type: 'ClusterIP' }));
    assert.match(back.spec?.clusterIP ?? '', /^10\.0\.0\./);
    assert.notEqual(back.spec?.clusterIP, '10.0.0.7');
  });
});

describe('a service of two families', () => {
  const both = small('10.1.0.0/24', 'fd00:1::/112');

  test('has an address of each', async () => {
    const { create } = await servicesWorld(both);
    const { spec } = await create('a', { ...web, ipFamilyPolicy: 'PreferDualStack' });
    assert.deepEqual(spec?.ipFamilies, ['IPv4', 'IPv6']);
    assert.match(spec?.clusterIPs?.join(' ') ?? '', /^10\.1\.0\.\d+ fd00:1::[0-9a-f]+$/);
    const turned = await create('b', { ...web, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] });
    assert.deepEqual(turned.spec?.ipFamilies, ['IPv6', 'IPv4']);
    assert.match(turned.spec?.clusterIP ?? '', /^fd00:1::/);
  });

  test('knows an address however it is written', async () => {
    const { create } = await servicesWorld(both);
    await create('a', { ...web, clusterIP: 'fd00:1::7' });
    const same = 'fd00:1:0:0:0:0:0:7';
    assert.match(await refusal(create('b', { ...web, clusterIP: same })), /provided IP is already allocated/);
  });

  test('gets and gives back the second by its policy', async () => {
    const { create, change } = await servicesWorld(both);
    const { spec: made } = await create('a', web);
    const { spec: two } = await change('a', (spec) => ({ ...spec, ipFamilyPolicy: 'PreferDualStack' }));
    assert.equal(two?.clusterIPs?.length, 2);
    assert.equal(two?.clusterIP, made?.clusterIP);
    const { spec: one } = await change('a', (spec) => ({ ...spec, ipFamilyPolicy: 'SingleStack' }));
    assert.deepEqual([one?.clusterIPs, one?.ipFamilies], [made?.clusterIPs, ['IPv4']]);
  });

  test('is refused where the cluster has one', async () => {
    const { create } = await servicesWorld();
    const cases: [object, string][] = [
      [
        { ipFamilyPolicy: 'RequireDualStack' },
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ],
      [{ ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
      [
        { clusterIP: 'fd00::1' },
        'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
      ],
    ];
    for (const [more, message] of cases)
      assert.equal(await refusal(create('a', { ...web, ...more })), `Service "a" is invalid: ${message}`);
    const { spec } = await create('a', { ...web, ipFamilyPolicy: 'PreferDualStack' });
    assert.equal(spec?.clusterIPs?.length, 1);
  });
});

describe('another server on the store', () => {
  test('knows what is taken', async () => {
    const { store, create } = await servicesWorld();
    await create('a', { ...web, clusterIP: '10.0.0.5' });
    const other = await servicesWorld(undefined, store);
    assert.match(
      await refusal(other.create('b', { ...web, clusterIP: '10.0.0.5' })),
      /provided IP is already allocated/,
    );
  });

  test('gives nothing away that this one gives at the same moment', async () => {
    const one = await servicesWorld();
    const other = await servicesWorld(undefined, one.store);
    await one.create('alias', { type: 'ExternalName', externalName: 'example.com' });
    await other.create('first', web); // now both know what there is
    const stated = { ...web, clusterIP: '10.0.0.5' };
    const said = await Promise.all([
      refusal(one.create('a', stated)),
      refusal(other.create('b', stated)),
      refusal(one.change('alias', () => stated)),
    ]);
    assert.equal(said.filter((text) => text === 'accepted').length, 1, said.join('\n'));
    assert.ok(
      said.some((text) => text.includes('another server gave its address or port')),
      said.join('\n'),
    );
    const { items } = one.storage.list(one.services.prefix('default'), '', 0);
    const holders = items.filter(
      (stored) => one.services.encoding.read(stored).spec?.clusterIP === '10.0.0.5',
    );
    assert.equal(holders.length, 1);
  });

  test('gives nothing away while it cannot read who has what', async () => {
    const { store, storage, services, create } = await servicesWorld();
    await create('a', web);
    const key = `${services.prefix('default')}a`;
    await store.commit({ key, expect: storage.get(key)?.revision ?? 0, value: Buffer.from('?encrypted') });
    const other = await servicesWorld(undefined, store);
    assert.equal(
      await refusal(other.create('b', web)),
      'services in the store cannot be read (/registry/services/default/a), and may have the address or port already',
    );
    assert.equal(await refusal(other.create('c', { clusterIP: 'None' })), 'accepted');
  });
});
