import { join } from 'node:path';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createLatest, describeError, readRegularFile, writeFileAtomic } from '../../base/index.ts';
import type { Issue, Pair } from '../../base/x509/index.ts';
import {
  alternativeNames,
  createAuthority,
  findFault,
  issueForRequest,
  noNames,
  readPair,
  readRequest,
  validity,
  writePair,
} from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { renderKubeconfig } from '../../client/index.ts';
import type { Identity, ServingCredentials } from './credentials.ts';
import { loopbackNames, nodeSubject, publishServing } from './credentials.ts';
import { obtainPair } from './obtain.ts';
import { minLeft, renewalService } from './renewal.ts';

export interface StandaloneIdentityOptions {
  nodeName: string;
  rootDir: string;
  certDir: string;
  /** Every name and address under which this node is reached, now. */
  addresses(): readonly string[];
  /** The agent's own address, `https://…`, for the kubeconfig; known once it listens. */
  url(): Promise<string>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const dayMs = 24 * 3600_000;
const authorityMs = 3650 * dayMs;
const leafMs = 365 * dayMs;
const authorityName = 'standalone-ca';
const administrator = { commonName: 'nodeward-admin', organizations: ['system:masters'] };
const retry = { initialMs: 200, maxMs: 15_000 };
const kubeconfigLimitBytes = 1024 * 1024;

/**
 * The service `identity` without any control plane: an authority of the agent's own signs its serving certificate and
 * one for an administrator, who finds both in `agent.kubeconfig` (0600) in the root folder.
 */
export function standaloneIdentity(options: StandaloneIdentityOptions): Service & Identity {
  const { nodeName, rootDir, clock } = options;
  const serving = createLatest<ServingCredentials>();

  async function refresh(): Promise<readonly string[]> {
    const authority = await openAuthority(options);
    const names = alternativeNames([nodeName, ...options.addresses(), ...loopbackNames]);
    const pair = await obtainLeaf(options, authority, 'nodeward-serving', {
      subject: nodeSubject(nodeName),
      names,
      use: 'server',
    });
    publishServing(serving, { pair, clientCa: authority.cert });
    const admin = await obtainLeaf(options, authority, 'standalone-admin', {
      subject: administrator,
      names: noNames,
      use: 'client',
    });
    const user = administrator.commonName;
    const server = await options.url();
    const text = renderKubeconfig({ server, ca: authority.cert, ...admin, user, endpoint: 'agent' });
    await keepFile(join(rootDir, 'agent.kubeconfig'), text);
    return [pair.cert, admin.cert];
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: options.dependsOn,
    clock,
    log: options.log,
    refresh,
    readyAfterFirst: true,
    retry,
  });
  return { ...service, api: createLatest<ClientOptions>(), serving };
}

/** The agent's own authority; made anew when it is of no use, for it has signed nothing but what is made anew here. */
async function openAuthority({ certDir, clock, log }: StandaloneIdentityOptions): Promise<Pair> {
  const found = await readAuthority(certDir, clock.now());
  if (typeof found !== 'string') {
    refuseClockBehind(found.cert, clock.now());
    return found;
  }
  log.info({ certificate: authorityName }, `making a certificate authority: ${found}`);
  const made = await createAuthority(`nodeward-${authorityName}`, authorityMs, clock.now());
  await writePair(certDir, authorityName, made);
  return made;
}

/** What is on disk, or why it is of no use. */
async function readAuthority(certDir: string, now: number): Promise<Pair | string> {
  try {
    const found = await readPair(certDir, authorityName);
    if (found === undefined) return 'there is none yet';
    // a clock that is behind is no reason to make another: it may be right in a moment
    const atLeast = Math.max(now, validity(found.cert).notBeforeMs);
    return findFault(found, { authority: found.cert, use: 'authority', now: atLeast }) ?? found;
  } catch (error) {
    return describeError(error);
  }
}

function refuseClockBehind(cert: string, now: number): void {
  const { notBeforeMs } = validity(cert);
  if (now >= notBeforeMs) return;
  const [from, shown] = [notBeforeMs, now].map((ms) => new Date(ms).toISOString());
  throw new Error(
    `the agent's own authority is valid only from ${from} on, and this machine's clock shows ${shown}: set the clock`,
  );
}

async function obtainLeaf(
  { certDir, clock, log }: StandaloneIdentityOptions,
  authority: Pair,
  name: string,
  leaf: Pick<Issue, 'subject' | 'names' | 'use'>,
): Promise<Pair> {
  return await obtainPair({
    folder: certDir,
    name,
    subject: leaf.subject,
    expected: { authority: authority.cert, use: leaf.use, names: leaf.names, minLeft },
    async sign(csrPem) {
      const request = await readRequest(csrPem);
      return await issueForRequest(authority, request, { ...leaf, lifetimeMs: leafMs, now: clock.now() });
    },
    clock,
    log,
  });
}

/** Writes a file that does not say `text` yet; one that does is left alone, for somebody may watch it. */
async function keepFile(path: string, text: string): Promise<void> {
  const found = await readRegularFile(path, { limitBytes: kubeconfigLimitBytes }).catch(() => undefined);
  if (found?.toString('utf8') !== text) await writeFileAtomic(path, text);
}
