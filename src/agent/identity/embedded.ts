import type { Clock, Logger, Service } from '../../base/index.ts';
import { createLatest } from '../../base/index.ts';
import { alternativeNames } from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import type { ControlPlaneService } from './control-plane/index.ts';
import type { Identity, ServingCredentials } from './credentials.ts';
import { loopbackNames, nodeSubject, publishApi, publishServing } from './credentials.ts';
import { obtainPair } from './obtain.ts';
import { minLeft, renewalService } from './renewal.ts';

export interface EmbeddedIdentityOptions {
  nodeName: string;
  certDir: string;
  /** Returns the names and addresses by which this node is currently reached. */
  addresses(): readonly string[];
  controlPlane: Pick<ControlPlaneService, 'connection' | 'sign'>;
  clock: Clock;
  log: Logger;
}

const retry = { initialMs: 200, maxMs: 15_000 };

/**
 * The service `identity` with an embedded control plane: both certificates are signed over the channel to it. As the
 * control plane runs on this machine, the serving certificate is valid for the loopback addresses too. After a restart the
 * control plane may have another port or another authority: the certificates are then checked at once.
 */
export function embeddedIdentity(options: EmbeddedIdentityOptions): Service & Identity {
  const { nodeName, certDir, controlPlane, clock, log } = options;
  const api = createLatest<ClientOptions>();
  const serving = createLatest<ServingCredentials>();

  async function refresh(): Promise<readonly string[]> {
    const { url, ca } = await controlPlane.connection.get();
    const common = { folder: certDir, subject: nodeSubject(nodeName), clock, log };
    const expected = { authority: ca, minLeft };
    const client = await obtainPair({
      ...common,
      name: 'nodeward-client',
      expected: { ...expected, use: 'client' },
      sign: (csrPem) => controlPlane.sign({ node: nodeName, csrPem, usage: 'client', addresses: [] }),
    });
    publishApi(api, { server: url, ca, ...client });
    const addresses = [...new Set([...options.addresses(), ...loopbackNames])];
    const names = alternativeNames([nodeName, ...addresses]);
    const pair = await obtainPair({
      ...common,
      name: 'nodeward-serving',
      expected: { ...expected, use: 'server', names },
      sign: (csrPem) => controlPlane.sign({ node: nodeName, csrPem, usage: 'serving', addresses }),
    });
    publishServing(serving, { pair, clientCa: ca });
    return [client.cert, pair.cert];
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: ['control-plane'],
    clock,
    log,
    refresh,
    readyAfterFirst: true,
    retry,
    changes: controlPlane.connection,
  });
  return { ...service, api, serving };
}
