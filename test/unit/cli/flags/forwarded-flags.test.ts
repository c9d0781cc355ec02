import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { controlPlaneOptions } from '../../../../src/cli/flags/control-plane-flags.ts';
import { ForwardedOptions } from '../../../../src/cli/flags/forwarded-flags.ts';
import { runCommandLine } from '../run-command.ts';

/** One value for each flag of the control plane that takes one. */
const values: Readonly<Record<string, string>> = {
  '--group-suffix': 'example.org',
  '--taint-domain': 'example.org',
  '--bind-address': '::1',
  '--secure-port': '0',
  '--storage': 'memory',
  '--etcd-servers': 'https://a:2379,https://b:2379',
  '--etcd-prefix': '/registry',
  '--etcd-cafile': '/ca.pem',
  '--etcd-certfile': '/client.pem',
  '--etcd-keyfile': '/client-key.pem',
  '--etcd-compaction-interval': '0s',
  '--history-window': '1m30.5s',
  '--history-bytes': '16Mi',
  '--max-requests-inflight': '7',
  '--max-mutating-requests-inflight': '8',
  '--event-ttl': '90m',
  '--client-ca-file': '/ca file.pem',
  '--token-auth-file': '/tokens=1.csv',
  '--anonymous-auth': 'true',
  '--enable-bootstrap-token-auth': 'false',
  '--oidc-issuer-url': 'https://issuer.example/?a=b',
  '--oidc-client-id': 'me',
  '--oidc-username-claim': 'email',
  '--oidc-username-prefix': '-',
  '--oidc-groups-claim': 'groups',
  '--oidc-groups-prefix': 'oidc:',
  '--oidc-required-claim': 'a=b=c',
  '--oidc-signing-algs': 'RS256,ES256',
  '--oidc-ca-file': '/ca.pem',
  '--authorization-webhook-config-file': '/webhook.yaml',
  '--authorization-webhook-cache-authorized-ttl': '0s',
  '--authorization-webhook-cache-unauthorized-ttl': '1h',
  '--authorization-webhook-failure-policy': 'Deny',
  '--audit-policy-file': '/policy.yaml',
  '--audit-log-path': '-',
  '--audit-log-maxsize': '1',
  '--audit-log-maxbackup': '0',
  '--service-cluster-ip-range': '10.96.0.0/16,fd00:10::/112',
  '--service-node-port-range': '31000-31999',
  '--node-monitor-grace-period': '1m30.5s',
  '--node-monitor-period': '250ms',
  '--node-eviction-rate': '0.000001',
  '--secondary-node-eviction-rate': '0',
  '--unhealthy-zone-threshold': '1',
  '--large-cluster-size-threshold': '1000',
  '--terminated-pod-gc-threshold': '5',
  '--scheduler': 'false',
  '--scheduler-name': 'other',
  '--workload-controllers': 'false',
  '--default-not-ready-toleration-seconds': '60',
  '--default-unreachable-toleration-seconds': '0',
};

function commandWithOptions() {
  const forwarded = new ForwardedOptions(controlPlaneOptions());
  const command = new Command().exitOverride();
  for (const option of forwarded.options) command.addOption(option);
  return { command, given: () => forwarded.args(command) };
}

describe('the flags that an agent passes on to the control plane that it runs', () => {
  const all = controlPlaneOptions().map(({ long, required }) =>
    required ? `${long}=${values[long ?? '']}` : `${long}`,
  );

  test('are all that a control plane has, and mean there what they meant here', () => {
    const { command, given } = commandWithOptions();
    command.parse(all, { from: 'user' });
    assert.deepEqual(given().toSorted(), all.toSorted());

    const child = commandWithOptions();
    child.command.parse(given(), { from: 'user' });
    assert.deepEqual(child.command.opts(), command.opts());
  });

  test('are none when none was given: the defaults are the control plane’s own', () => {
    const { command, given } = commandWithOptions();
    command.parse([], { from: 'user' });
    assert.deepEqual(given(), []);
  });

  test('keep every mention of one that may be repeated, in order', () => {
    const { command, given } = commandWithOptions();
    const words = ['--oidc-required-claim=a=1', '--oidc-required-claim=b=2'];
    command.parse(words, { from: 'user' });
    assert.deepEqual(given(), words);
    assert.deepEqual(command.opts()['oidcRequiredClaim'], { a: '1', b: '2' });
  });

  test('are refused by the agent itself when they make no sense together', async () => {
    for (const flag of [
      '--oidc-client-id=x',
      '--audit-log-path=-',
      '--authorization-webhook-failure-policy=Deny',
      '--node-monitor-period=40s',
    ]) {
      const { code, stderr } = await runCommandLine(['agent', flag]);
      assert.equal(code, 2, stderr);
    }
  });
});
