import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EnvironmentSources } from '../../../../src/agent/containers/index.ts';
import { ContainerConfigError } from '../../../../src/agent/containers/index.ts';
import { environmentOf, objectsOf } from './given.ts';
import type { ContainerSpec } from './sample.ts';
import { samplePod } from './sample.ts';

type Variables = NonNullable<ContainerSpec['env']>;
type Source = NonNullable<Variables[number]['valueFrom']>;

const objects = objectsOf({
  configMaps: {
    m: { color: 'red', size: '$(HOME)', 'a.b-c': 'dots', '1st': 'digit', empty: '' },
    n: { color: 'blue' },
    none: {},
    nul: { k: 'a\0b' },
  },
  secrets: {
    s: { user: 'root', password: 'pä$$', binary: new Uint8Array([0xff, 0xfe]), bom: '\ufefftext' },
    t: { token: 'abc', color: 'green' },
    nul: { k: 'a\0b' },
  },
  others: {
    slow: { state: 'waiting', message: 'the API has not told yet whether there is a ConfigMap "slow"' },
    hidden: { state: 'refused', message: 'secrets "hidden" is forbidden: no relationship found' },
  },
});

const from = (valueFrom: Source): Variables => [{ name: 'X', valueFrom }];
const key = (name: string, key: string, optional?: boolean) => ({
  ...{ name, key },
  ...(optional === undefined ? {} : { optional }),
});

describe('the environment takes from objects', () => {
  const rows: [what: string, container: Partial<ContainerSpec>, expected: string[]][] = [
    ['a key of a ConfigMap', { env: from({ configMapKeyRef: key('m', 'color') }) }, ['X=red']],
    [
      'a value with a reference as it is',
      { env: from({ configMapKeyRef: key('m', 'size') }) },
      ['X=$(HOME)'],
    ],
    ['an empty value', { env: from({ configMapKeyRef: key('m', 'empty') }) }, ['X=']],
    ['a key of a Secret', { env: from({ secretKeyRef: key('s', 'user') }) }, ['X=root']],
    ['a Secret with what is not ASCII', { env: from({ secretKeyRef: key('s', 'password') }) }, ['X=pä$$']],
    ['a byte order mark', { env: from({ secretKeyRef: key('s', 'bom') }) }, ['X=\ufefftext']],
    [
      'nothing for an optional ConfigMap that is not there',
      { env: from({ configMapKeyRef: key('gone', 'k', true) }) },
      [],
    ],
    ['nothing for an optional key', { env: from({ configMapKeyRef: key('m', 'gone', true) }) }, []],
    ['nothing for a key of every object', { env: from({ configMapKeyRef: key('m', 'toString', true) }) }, []],
    ['nothing for an optional Secret', { env: from({ secretKeyRef: key('gone', 'k', true) }) }, []],
    ['nothing for an optional key of a Secret', { env: from({ secretKeyRef: key('s', 'gone', true) }) }, []],
    [
      'all of a ConfigMap, whatever the keys are',
      { envFrom: [{ configMapRef: { name: 'm' } }] },
      ['1st=digit', 'a.b-c=dots', 'color=red', 'empty=', 'size=$(HOME)'],
    ],
    ['all of an empty one', { envFrom: [{ configMapRef: { name: 'none' } }] }, []],
    ['all of a Secret', { envFrom: [{ secretRef: { name: 't' } }] }, ['color=green', 'token=abc']],
    ['all, with a prefix', { envFrom: [{ prefix: 'P_', configMapRef: { name: 'n' } }] }, ['P_color=blue']],
    [
      'all, with a prefix that is no C name',
      { envFrom: [{ prefix: '1.', secretRef: { name: 't' } }] },
      ['1.color=green', '1.token=abc'],
    ],
    [
      'the later one of two',
      { envFrom: [{ configMapRef: { name: 'n' } }, { secretRef: { name: 't' } }] },
      ['color=green', 'token=abc'],
    ],
    [
      'the same object twice',
      {
        envFrom: [
          { prefix: 'A_', configMapRef: { name: 'n' } },
          { prefix: 'B_', configMapRef: { name: 'n' } },
        ],
      },
      ['A_color=blue', 'B_color=blue'],
    ],
    [
      'nothing for an optional ConfigMap',
      { envFrom: [{ configMapRef: { name: 'gone', optional: true } }] },
      [],
    ],
    ['nothing for an optional Secret', { envFrom: [{ secretRef: { name: 'gone', optional: true } }] }, []],
    ['nothing where no object is named', { envFrom: [{ prefix: 'P_' }] }, []],
    ['nothing for an optional one without a name', { envFrom: [{ configMapRef: { optional: true } }] }, []],
    [
      'what its own variables say last',
      { envFrom: [{ configMapRef: { name: 'n' } }], env: [{ name: 'color', value: 'black' }] },
      ['color=black'],
    ],
    [
      'what its own variables refer to',
      {
        envFrom: [{ configMapRef: { name: 'n' } }],
        env: [{ name: 'X', value: '$(color) $(size) $$(color)' }],
      },
      ['color=blue', 'X=blue $(size) $(color)'],
    ],
    [
      'a reference to a key that was left out',
      { env: [...from({ secretKeyRef: key('gone', 'k', true) }), { name: 'Y', value: '[$(X)]' }] },
      ['Y=[$(X)]'],
    ],
    [
      'a value that a later variable refers to, not expanded twice',
      { env: [...from({ configMapKeyRef: key('m', 'size') }), { name: 'Y', value: '[$(X)]' }] },
      ['X=$(HOME)', 'Y=[$(HOME)]'],
    ],
  ];
  for (const [what, container, expected] of rows) {
    test(what, async () =>
      assert.deepEqual(await environmentOf(samplePod({}, container), { objects }), expected),
    );
  }
});

describe('the environment cannot be had, and says so without a value', () => {
  const rows: [what: string, container: Partial<ContainerSpec>, message: string][] = [
    [
      'a ConfigMap is absent',
      { env: from({ configMapKeyRef: key('gone', 'k') }) },
      'configmap "gone" not found',
    ],
    ['a Secret is absent', { env: from({ secretKeyRef: key('gone', 'k') }) }, 'secret "gone" not found'],
    ['all of a ConfigMap', { envFrom: [{ configMapRef: { name: 'gone' } }] }, 'configmap "gone" not found'],
    [
      'all of a Secret',
      { envFrom: [{ secretRef: { name: 'gone', optional: false } }] },
      'secret "gone" not found',
    ],
    ['nothing is named', { envFrom: [{ configMapRef: {} }] }, 'configmap "" not found'],
    [
      'a key is absent',
      { env: from({ configMapKeyRef: key('m', 'gone') }) },
      "couldn't find key gone in ConfigMap shop/m",
    ],
    [
      'a key of a Secret is absent',
      { env: from({ secretKeyRef: key('s', 'gone', false) }) },
      "couldn't find key gone in Secret shop/s",
    ],
    [
      'a name that every object has is no key',
      { env: from({ configMapKeyRef: key('m', 'constructor') }) },
      "couldn't find key constructor in ConfigMap shop/m",
    ],
    [
      'a value is no text',
      { env: from({ secretKeyRef: key('s', 'binary') }) },
      'the value of key binary in Secret shop/s is no text in UTF-8, and so cannot be a variable',
    ],
    [
      'one of all values is no text',
      { envFrom: [{ secretRef: { name: 's' } }] },
      'the value of key binary in Secret shop/s is no text in UTF-8, and so cannot be a variable',
    ],
    [
      'a value has a NUL',
      { env: from({ secretKeyRef: key('nul', 'k') }) },
      'the value of the variable "X" has a NUL character',
    ],
    [
      'a value of a ConfigMap has a NUL',
      { envFrom: [{ configMapRef: { name: 'nul' } }] },
      'the value of the variable "k" has a NUL character',
    ],
    [
      'the API has not told, even where it is optional',
      { env: from({ configMapKeyRef: key('slow', 'k', true) }) },
      'the API has not told yet whether there is a ConfigMap "slow"',
    ],
    [
      'the API refuses, even where it is optional',
      { envFrom: [{ secretRef: { name: 'hidden', optional: true } }] },
      'secrets "hidden" is forbidden: no relationship found',
    ],
  ];
  for (const [what, container, message] of rows) {
    test(what, async () => {
      await assert.rejects(environmentOf(samplePod({}, container), { objects }), (error: unknown) => {
        assert.ok(error instanceof ContainerConfigError);
        assert.equal(error.reason, 'CreateContainerConfigError');
        assert.equal(error.message, message);
        return true;
      });
    });
  }
});

describe('a variable from a file of a volume', () => {
  const volumes = [{ name: 'v', emptyDir: {} }];
  const files: Partial<EnvironmentSources> = {
    readFile: async (volume, path) => {
      if (`${volume}/${path}` !== 'v/app.env') throw new Error('there is no such file');
      return "# made\nNAME='it is\nme' # twice\nEMPTY=''\nNUL='a\0b'\nBAD=x\n";
    },
  };
  const fileKey = (key: string, more: object = {}) =>
    from({ fileKeyRef: { volumeName: 'v', path: 'app.env', key, ...more } });

  test('has the value of its key, which is not expanded', async () => {
    const env = [{ name: 'me', value: '1' }, ...fileKey('NAME')];
    assert.deepEqual(await environmentOf(samplePod({ volumes }, { env }), files), ['me=1', 'X=it is\nme']);
  });

  test('is left out where its key is optional and not there, or empty', async () => {
    const readFile = async () => "EMPTY=''\n";
    for (const name of ['OTHER', 'EMPTY']) {
      const pod = samplePod({ volumes }, { env: fileKey(name, { optional: true }) });
      assert.deepEqual(await environmentOf(pod, { readFile }), []);
    }
  });

  const refused: [what: string, env: Variables, message: string][] = [
    [
      'an unknown volume',
      fileKey('NAME', { volumeName: 'w' }),
      'cannot find the volume "w" referenced by FileKeyRef',
    ],
    ['an empty value', fileKey('EMPTY'), 'environment variable key "EMPTY" not found in file "app.env"'],
    [
      'a missing file, even where it is optional',
      fileKey('NAME', { path: 'gone', optional: true }),
      'couldn\'t parse env file: "gone" of the volume "v": there is no such file',
    ],
    [
      'a bad line before its key',
      fileKey('LATER'),
      'couldn\'t parse env file: "app.env" of the volume "v": invalid environment variable format at line 6: value must be enclosed in single quotes',
    ],
    ['a value with a NUL', fileKey('NUL'), 'the value of the variable "X" has a NUL character'],
  ];
  for (const [what, env, message] of refused) {
    test(`${what} is told`, async () => {
      await assert.rejects(environmentOf(samplePod({ volumes }, { env }), files), { message });
    });
  }
});

describe('the variables of Services', () => {
  const service = (namespace: string, name: string, clusterIP = '10.0.0.1', port = 80) => ({
    metadata: { namespace, name },
    spec: { clusterIP, ports: [{ port }] },
  });
  const known = (...services: ReturnType<typeof service>[]): Partial<EnvironmentSources> => ({
    services: { state: 'present', object: services },
  });
  const hosts = async (spec: object, sources: Partial<EnvironmentSources>) =>
    (await environmentOf(samplePod(spec), sources)).filter((each) => each.includes('_HOST='));

  test('are those of the namespace, and the API', async () => {
    const all = known(
      service('shop', 'db'),
      service('other', 'web'),
      service('default', 'kubernetes', '10.96.0.1'),
      service('default', 'db', '10.0.0.9'),
    );
    assert.deepEqual(await hosts({}, all), ['DB_SERVICE_HOST=10.0.0.1', 'KUBERNETES_SERVICE_HOST=10.96.0.1']);
    assert.deepEqual(await hosts({ enableServiceLinks: false }, all), ['KUBERNETES_SERVICE_HOST=10.96.0.1']);
  });

  test('are of the own namespace where that has a Service kubernetes, too', async () => {
    const [own, api] = [service('shop', 'kubernetes'), service('default', 'kubernetes', '10.96.0.1')];
    for (const sources of [known(own, api), known(api, own)]) {
      assert.deepEqual(await hosts({}, sources), ['KUBERNETES_SERVICE_HOST=10.0.0.1']);
      assert.deepEqual(await hosts({ enableServiceLinks: false }, sources), [
        'KUBERNETES_SERVICE_HOST=10.96.0.1',
      ]);
    }
  });

  test('are those of the API where a Service of its name in the own namespace has no address', async () => {
    const [own, api] = [service('shop', 'kubernetes', 'None'), service('default', 'kubernetes', '10.96.0.1')];
    for (const sources of [known(own, api), known(api, own)])
      assert.deepEqual(await hosts({}, sources), ['KUBERNETES_SERVICE_HOST=10.96.0.1']);
  });

  test('are none without an address or a port', async () => {
    const headless = [
      service('shop', 'a', 'None'),
      service('shop', 'b', ''),
      { ...service('shop', 'c'), spec: { clusterIP: '10.0.0.1', ports: [] } },
    ];
    assert.deepEqual(await environmentOf(samplePod(), known(...headless)), []);
  });

  test('say everything that the reference says', async () => {
    const ports = [
      { name: 'https', port: 443 },
      { name: 'dns-udp', protocol: 'UDP', port: 53 },
      { port: 8080, protocol: 'TCP' },
    ];
    const spec = { clusterIP: '10.96.0.1', ports };
    const web = { metadata: { namespace: 'shop', name: 'my-web' }, spec };
    assert.deepEqual(await environmentOf(samplePod(), { services: { state: 'present', object: [web] } }), [
      'MY_WEB_SERVICE_HOST=10.96.0.1',
      'MY_WEB_SERVICE_PORT=443',
      'MY_WEB_SERVICE_PORT_HTTPS=443',
      'MY_WEB_SERVICE_PORT_DNS_UDP=53',
      'MY_WEB_PORT=tcp://10.96.0.1:443',
      'MY_WEB_PORT_443_TCP=tcp://10.96.0.1:443',
      'MY_WEB_PORT_443_TCP_PROTO=tcp',
      'MY_WEB_PORT_443_TCP_PORT=443',
      'MY_WEB_PORT_443_TCP_ADDR=10.96.0.1',
      'MY_WEB_PORT_53_UDP=udp://10.96.0.1:53',
      'MY_WEB_PORT_53_UDP_PROTO=udp',
      'MY_WEB_PORT_53_UDP_PORT=53',
      'MY_WEB_PORT_53_UDP_ADDR=10.96.0.1',
      'MY_WEB_PORT_8080_TCP=tcp://10.96.0.1:8080',
      'MY_WEB_PORT_8080_TCP_PROTO=tcp',
      'MY_WEB_PORT_8080_TCP_PORT=8080',
      'MY_WEB_PORT_8080_TCP_ADDR=10.96.0.1',
    ]);
  });

  test('write an address of version 6 as in a URL', async () => {
    const found = await environmentOf(samplePod(), known(service('shop', 'db', 'fd00::1')));
    assert.ok(found.includes('DB_PORT=tcp://[fd00::1]:80'), found.join());
    assert.ok(found.includes('DB_PORT_80_TCP_ADDR=fd00::1'), found.join());
  });

  test('can be referred to, and a variable of the container takes their place', async () => {
    const env = [
      { name: 'URL', value: 'http://$(DB_SERVICE_HOST)/' },
      { name: 'DB_SERVICE_HOST', value: 'mine' },
      { name: 'AFTER', value: '$(DB_SERVICE_HOST)' },
    ];
    const found = await environmentOf(samplePod({}, { env }), known(service('shop', 'db')));
    assert.deepEqual(found.slice(0, 3), ['URL=http://10.0.0.1/', 'DB_SERVICE_HOST=mine', 'AFTER=mine']);
    assert.equal(found.filter((each) => each.startsWith('DB_SERVICE_HOST=')).length, 1);
  });

  test('are waited for, but by static pods', async () => {
    const services = { state: 'waiting', message: 'nothing listens there' } as const;
    await assert.rejects(environmentOf(samplePod(), { services }), {
      message:
        'services have not yet been read at least once, cannot construct envvars: nothing listens there',
    });
    assert.deepEqual(await environmentOf(samplePod(), { services, isStatic: true }), []);
  });
});
