import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wrongWith, wrongWithContainer } from './pod-examples.ts';

const path = 'spec.containers[0]';
const main = { name: 'main', image: 'app:1' };
const portRange = 'must be between 1 and 65535, inclusive';

describe('containers', () => {
  test('are at least one', () => {
    assert.deepEqual(wrongWith({}), []);
    assert.deepEqual(wrongWith({ containers: [] }), ['spec.containers: Required value']);
  });

  test('have names that are labels, each its own over all of them', () => {
    assert.match(
      wrongWithContainer({ name: 'A_b' })[0] ?? '',
      /^spec.containers\[0\].name: Invalid value: "A_b": a lowercase RFC 1123 label/,
    );
    assert.deepEqual(wrongWithContainer({ name: '' }), [`${path}.name: Required value`]);
    const initContainers = [{ name: 'main', image: 'x' }];
    assert.deepEqual(wrongWith({ initContainers }), ['spec.initContainers[0].name: Duplicate value: "main"']);
    assert.deepEqual(wrongWith({ containers: [main, main] }), [
      'spec.containers[1].name: Duplicate value: "main"',
    ]);
  });

  test('have an image, without white space around it', () => {
    assert.deepEqual(wrongWith({ containers: [{ name: 'main' }] }), [`${path}.image: Required value`]);
    assert.deepEqual(wrongWithContainer({ image: ' app' }), [
      `${path}.image: Invalid value: " app": must not have leading or trailing whitespace`,
    ]);
  });

  test('say how they are pulled and how they end in words that are known', () => {
    assert.deepEqual(wrongWithContainer({ imagePullPolicy: 'Sometimes', terminationMessagePolicy: 'Mail' }), [
      `${path}.terminationMessagePolicy: Unsupported value: "Mail": supported values: "File", "FallbackToLogsOnError"`,
      `${path}.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
    ]);
  });

  test('tell of a thousand mistakes the first hundred or so', () => {
    const containers = Array.from({ length: 200_000 }, () => ({ name: '' }));
    const found = wrongWith({ containers });
    assert.ok(found.length >= 100 && found.length < 400, String(found.length));
  });
});

describe('ports', () => {
  const ports = (...given: object[]) => wrongWithContainer({ ports: given });

  test('are in the range of ports', () => {
    assert.deepEqual(ports({ containerPort: 1 }, { containerPort: 65535, hostPort: 65535 }), []);
    assert.deepEqual(ports({ containerPort: 65536, hostPort: -1 }), [
      `${path}.ports[0].containerPort: Invalid value: 65536: ${portRange}`,
      `${path}.ports[0].hostPort: Invalid value: -1: ${portRange}`,
    ]);
    assert.deepEqual(ports({ containerPort: 0 }), [`${path}.ports[0].containerPort: Required value`]);
    assert.deepEqual(ports({}), [`${path}.ports[0].containerPort: Required value`]);
  });

  test('have names of their own that are names of ports', () => {
    for (const name of ['UPPER', 'a--b', '-a', '8080', 'much-too-long-name']) {
      assert.match(
        ports({ name, containerPort: 1 })[0] ?? '',
        /^spec.containers\[0\].ports\[0\].name: Invalid value/,
        name,
      );
    }
    assert.deepEqual(ports({ name: 'a', containerPort: 1 }, { name: 'a', containerPort: 2 }), [
      `${path}.ports[1].name: Duplicate value: "a"`,
    ]);
  });

  test('speak a protocol that is known', () => {
    assert.deepEqual(ports({ containerPort: 1, protocol: 'ICMP' }), [
      `${path}.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`,
    ]);
  });

  test('of the node are taken once, and on its network are the own ones', () => {
    const taken = { containerPort: 1, hostPort: 80 };
    assert.deepEqual(ports(taken, { containerPort: 2, hostPort: 80 }), [
      `${path}.ports[1].hostPort: Duplicate value: "TCP//80"`,
    ]);
    assert.deepEqual(ports(taken, { ...taken, protocol: 'UDP' }), []);
    assert.deepEqual(wrongWith({ hostNetwork: true, containers: [{ ...main, ports: [taken] }] }), [
      `${path}.ports[0].hostPort: Invalid value: 80: must match \`containerPort\` when \`hostNetwork\` is true`,
    ]);
  });
});

describe('the environment', () => {
  const env = (...given: object[]) => wrongWithContainer({ env: given });
  const from = (valueFrom: object) => env({ name: 'A', valueFrom });
  const at = `${path}.env[0].valueFrom`;

  test('has names without an equals sign', () => {
    assert.deepEqual(env({ name: 'A.b-c 1' }), []);
    assert.match(
      env({ name: 'A=B' })[0] ?? '',
      /env\[0\].name: Invalid value: "A=B": a valid environment variable name/,
    );
    assert.deepEqual(env({ name: '' }), [`${path}.env[0].name: Required value`]);
  });

  test('takes a value from one place, which exists', () => {
    assert.deepEqual(
      env({ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
      [`${at}: Invalid value: "": may not be specified when \`value\` is not empty`],
    );
    assert.match(from({})[0] ?? '', /valueFrom: Invalid value: "": must specify one of: `fieldRef`/);
    const field = (fieldPath: string) => from({ fieldRef: { fieldPath } });
    const converting = (path: string, why: string) =>
      `${at}.fieldRef.fieldPath: Invalid value: ${JSON.stringify(path)}: error converting fieldPath: ${why}`;
    assert.deepEqual(field('spec.secret'), [
      converting('spec.secret', 'field label not supported: spec.secret'),
    ]);
    assert.deepEqual(field("metadata.name['a']"), [
      converting("metadata.name['a']", "field label does not support subscript: metadata.name['a']"),
    ]);
    assert.match(field('status.phase').join(), /fieldPath: Unsupported value: "status.phase": supported/);
    assert.deepEqual(field('spec.host'), []); // the name of old clients for spec.nodeName
    assert.deepEqual(from({ fieldRef: { fieldPath: "metadata.annotations['a b']" } }).length, 1);
    assert.match(
      from({ resourceFieldRef: { resource: 'cpu' } })[0] ?? '',
      /resource: Unsupported value: "cpu"/,
    );
    assert.match(
      from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } })[0] ?? '',
      /divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource/,
    );
    for (const [resource, word] of [
      ['requests.ephemeral-storage', 'local ephemeral storage'],
      ['limits.hugepages-2Mi', 'hugepages'],
    ])
      assert.match(
        from({ resourceFieldRef: { resource, divisor: '3' } }).join(),
        new RegExp(`1Pi, 1Ei are supported with the ${word} resource$`),
      );
    assert.deepEqual(from({ secretKeyRef: { name: 's', key: '' } }), [
      `${at}.secretKeyRef.key: Required value`,
    ]);
    assert.match(from({ configMapKeyRef: { name: 'c', key: 'a/b' } })[0] ?? '', /key: Invalid value: "a\/b"/);
    assert.deepEqual(
      from({ secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 'c', key: 'k' } }),
      [`${at}: Invalid value: "": may not have more than one field specified at a time`],
    );
  });

  test('takes all of one Secret or ConfigMap', () => {
    const envFrom = (source: object) => wrongWithContainer({ envFrom: [source] });
    assert.deepEqual(envFrom({ secretRef: { name: 's' } }), []);
    assert.deepEqual(envFrom({ configMapRef: {} }), [`${path}.envFrom[0].configMapRef.name: Required value`]);
    assert.deepEqual(envFrom({}), [
      `${path}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
    ]);
    assert.equal(envFrom({ prefix: 'a=', secretRef: { name: 's' } }).length, 1);
  });
});

describe('probes', () => {
  const probe = (livenessProbe: object) => wrongWithContainer({ livenessProbe });
  const at = `${path}.livenessProbe`;

  test('have exactly one handler', () => {
    assert.deepEqual(probe({ exec: { command: ['true'] } }), []);
    assert.deepEqual(probe({}), [`${at}: Required value: must specify a handler type`]);
    assert.deepEqual(probe({ exec: { command: ['true'] }, tcpSocket: { port: 1 } }), [
      `${at}.tcpSocket: Forbidden: may not specify more than 1 handler type`,
    ]);
  });

  test('ask what can be asked', () => {
    assert.deepEqual(probe({ exec: {} }), [`${at}.exec.command: Required value`]);
    assert.deepEqual(
      probe({ httpGet: { port: 0, scheme: 'ftp', httpHeaders: [{ name: 'a b', value: '' }] } }),
      [
        `${at}.httpGet.port: Invalid value: 0: ${portRange}`,
        `${at}.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"`,
        `${at}.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`,
      ],
    );
    assert.match(
      probe({ tcpSocket: { port: 'Not A Port' } })[0] ?? '',
      /tcpSocket.port: Invalid value: "Not A Port"/,
    );
    assert.deepEqual(probe({ grpc: { port: 70000 } }), [
      `${at}.grpc.port: Invalid value: 70000: ${portRange}`,
    ]);
  });

  test('count from zero, and a container is alive after one success', () => {
    const exec = { command: ['true'] };
    assert.deepEqual(probe({ exec, initialDelaySeconds: -1, failureThreshold: -2, successThreshold: 2 }), [
      `${at}.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0`,
      `${at}.failureThreshold: Invalid value: -2: must be greater than or equal to 0`,
      `${at}.successThreshold: Invalid value: 2: must be 1`,
    ]);
    assert.deepEqual(probe({ exec, terminationGracePeriodSeconds: 0 }), [
      `${at}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    ]);
    assert.deepEqual(wrongWithContainer({ readinessProbe: { exec, terminationGracePeriodSeconds: 5 } }), [
      `${path}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`,
    ]);
  });

  test('and hooks end in time', () => {
    assert.deepEqual(wrongWithContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }), [
      `${path}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`,
    ]);
    assert.deepEqual(wrongWithContainer({ lifecycle: { postStart: {} } }), [
      `${path}.lifecycle.postStart: Required value: must specify a handler type`,
    ]);
  });

  test('are for init containers only where these go on', () => {
    const init = { name: 'i', image: 'x', readinessProbe: { exec: { command: ['true'] } } };
    assert.deepEqual(wrongWith({ initContainers: [init] }), [
      'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ]);
    assert.deepEqual(wrongWith({ initContainers: [{ ...init, restartPolicy: 'Always' }] }), []);
  });
});

describe('resources', () => {
  const resources = (given: object) => wrongWithContainer({ resources: given });
  const at = `${path}.resources`;

  test('are not less than nothing and known by name', () => {
    assert.deepEqual(resources({ limits: { cpu: '-1' } }), [
      `${at}.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
      `${at}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
    ]);
    assert.deepEqual(resources({ requests: { gold: '1' } }), [
      `${at}.requests[gold]: Invalid value: "gold": must be a standard resource for containers`,
    ]);
  });

  test('are asked for up to the limit', () => {
    assert.deepEqual(resources({ limits: { cpu: '1' }, requests: { cpu: '1000m' } }), []);
    assert.deepEqual(resources({ limits: { cpu: '1' }, requests: { cpu: '1001m' } }), [
      `${at}.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1`,
    ]);
  });

  test('that cannot be shared are whole and asked for as limited', () => {
    const device = 'example.com/device';
    assert.deepEqual(resources({ limits: { [device]: '2' } }), []);
    assert.deepEqual(resources({ limits: { [device]: '2' }, requests: { [device]: '1' } }), [
      `${at}.requests: Invalid value: "1": must be equal to example.com/device limit of 2`,
    ]);
    assert.deepEqual(resources({ requests: { [device]: '1' } }), [
      `${at}.limits: Required value: Limit must be set for non overcommitable resources`,
    ]);
    assert.match(resources({ limits: { [device]: '500m' } })[0] ?? '', /must be an integer/);
    assert.deepEqual(resources({ limits: { 'hugepages-2Mi': '2Mi' } }), [
      `${at}: Forbidden: HugePages require cpu or memory`,
    ]);
  });

  test('are claimed from the claims of the pod', () => {
    assert.deepEqual(resources({ claims: [{ name: 'gpu' }] }), [`${at}.claims[0]: Not found: "gpu"`]);
    assert.deepEqual(
      wrongWith({ resourceClaims: [{ name: 'gpu' }] })[0]?.split(': ')[0],
      'spec.resourceClaims[0]',
    );
    assert.deepEqual(wrongWith({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'a' }] }), []);
  });
});

describe('rights', () => {
  const rights = (securityContext: object) => wrongWithContainer({ securityContext });
  const at = `${path}.securityContext`;

  test('name a profile of the node with Localhost, and only then', () => {
    assert.deepEqual(rights({ seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } }), []);
    assert.deepEqual(rights({ seccompProfile: { type: 'Localhost' } }), [
      `${at}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
    ]);
    assert.deepEqual(rights({ seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'a' } }), [
      `${at}.seccompProfile.localhostProfile: Invalid value: "a": can only be set when seccomp type is Localhost`,
    ]);
    assert.deepEqual(rights({ seccompProfile: { type: 'Localhost', localhostProfile: '../a' } }), [
      `${at}.seccompProfile.localhostProfile: Invalid value: "../a": must not contain '..'`,
    ]);
    assert.deepEqual(rights({ seccompProfile: { type: 'Localhost', localhostProfile: '/a' } }), [
      `${at}.seccompProfile.localhostProfile: Invalid value: "/a": must be a relative path`,
    ]);
    assert.deepEqual(rights({ seccompProfile: { type: 'Strict' } }), [
      `${at}.seccompProfile.type: Unsupported value: "Strict": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
    ]);
    assert.deepEqual(rights({ appArmorProfile: { type: 'Localhost', localhostProfile: ' ' } }), [
      `${at}.appArmorProfile.localhostProfile: Invalid value: " ": must not be padded with whitespace`,
    ]);
    assert.deepEqual(rights({ appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' } }), [
      `${at}.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost`,
    ]);
  });

  test('are of users that exist', () => {
    assert.deepEqual(rights({ runAsUser: 0, runAsGroup: 2 ** 31 - 1 }), []);
    assert.deepEqual(rights({ runAsUser: -1 }), [
      `${at}.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
    ]);
  });

  test('do not contradict themselves', () => {
    const found = rights({ allowPrivilegeEscalation: false, privileged: true });
    assert.match(found[0] ?? '', /cannot set `allowPrivilegeEscalation` to false and `privileged` to true$/);
    assert.equal(
      rights({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } }).length,
      1,
    );
    assert.equal(rights({ procMount: 'Unmasked' }).length, 1);
    assert.equal(rights({ procMount: 'Everything' }).length, 1);
  });
});

describe('restarts', () => {
  test('follow rules of their own only with a policy of their own', () => {
    const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } };
    assert.deepEqual(wrongWithContainer({ restartPolicy: 'Never', restartPolicyRules: [rule] }), []);
    assert.deepEqual(wrongWithContainer({ restartPolicyRules: [rule] }), [
      `${path}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
    ]);
    assert.equal(wrongWithContainer({ restartPolicy: 'Maybe' }).length, 1);
    assert.equal(
      wrongWithContainer({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Dance' }] }).length,
      2,
    );
  });

  test('have bounded rules', () => {
    const ruleOf = (count: number) => ({
      action: 'Restart',
      exitCodes: { operator: 'NotIn', values: Array.from({ length: count }, (_, code) => code) },
    });
    const wrong = (rules: unknown[]) =>
      wrongWithContainer({ restartPolicy: 'Never', restartPolicyRules: rules });
    assert.deepEqual(wrong(Array.from({ length: 20 }, () => ruleOf(255))), []);
    assert.deepEqual(wrong([ruleOf(256)]), [
      `${path}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items`,
    ]);
    assert.deepEqual(wrong(Array.from({ length: 21 }, () => ruleOf(1))), [
      `${path}.restartPolicyRules: Too many: 21: must have at most 20 items`,
    ]);
  });

  test('by a resize are not, where there are none at all', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    assert.deepEqual(wrongWithContainer({ resizePolicy }), []);
    assert.deepEqual(wrongWith({ restartPolicy: 'Never', containers: [{ ...main, resizePolicy }] }), [
      `${path}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when \`restartPolicy\` is 'Never'`,
    ]);
  });
});
