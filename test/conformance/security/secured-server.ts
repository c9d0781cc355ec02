import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pair } from '../../../src/base/x509/index.ts';
import { issuePair, noNames } from '../../../src/base/x509/index.ts';
import { ensureBuilt } from '../../integration/installation.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer } from '../../integration/nodeward/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import { Asker } from './asker.ts';
import { Secrets } from './secrets.ts';

/**
 * The program's control plane with everything switched on that writes something down: it logs all, audits all, and knows
 * every way to say who somebody is. It holds two secrets that only an administrator may see. Disposal ends it and looks
 * whether it has told anybody anything that it should not.
 */
export interface SecuredServer extends AsyncDisposable {
  readonly port: number;
  readonly process: RunningApiServer['process'];
  readonly ca: string;
  readonly secrets: Secrets;
  /** Of `system:masters`; what it is answered is not looked at. */
  readonly admin: ApiTester;
  /** Without a credential. */
  readonly nobody: Asker;
  /** With a certificate of the cluster and no group. */
  readonly stranger: Asker;
  node(name: string): Promise<Asker>;
  holder(pair: Pair): Asker;
  /** Shows this header and no certificate. */
  showing(authorization: string): Asker;
  bearer(token: string): Asker;
  /** Signed by the cluster's authority. */
  issue(wanted: Partial<Wanted>): Promise<Pair>;
  /** PEM of the key that signs the tokens of service accounts. */
  readonly tokenKey: string;
  /** Of a user `listed` in the token file, who has no rights. */
  readonly listedToken: string;
}

export interface Wanted {
  commonName: string;
  organizations: readonly string[];
  use: 'client' | 'server';
  now: number;
}

const hourMs = 3600_000;

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'RequestResponse' }],
};

export async function startSecuredServer(...args: readonly string[]): Promise<SecuredServer> {
  await ensureBuilt();
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder('security-'));
  const rootDir = join(path, 'root');
  const secrets = new Secrets();
  const listedToken = secrets.keep('a token of the token file', `listed-${randomUUID()}`);
  const files = {
    tokens: join(path, 'tokens'),
    policy: join(path, 'policy.json'),
    audit: join(path, 'audit'),
  };
  await writeFile(files.tokens, `${listedToken},listed,1,devs\n`, { mode: 0o600 });
  await writeFile(files.policy, JSON.stringify(auditPolicy));
  const flags = ['--token-auth-file', files.tokens, '--audit-policy-file', files.policy, '--verbose'];
  const server = setup.use(
    await startApiServer(rootDir, { args: [...flags, '--audit-log-path', files.audit, ...args] }),
  );
  const port = Number(new URL(server.url).port);
  const read = (name: string) => readFile(join(rootDir, 'pki', name), 'utf8');
  const [ca, tokenKey] = [await read('ca.crt'), await read('sa.key')];
  const authority = { cert: ca, key: await read('ca.key') };
  for (const name of ['ca.key', 'sa.key', 'admin.key', 'apiserver.key'])
    secrets.keepKey(name, await read(name));
  const admin = new ApiTester({
    port,
    ca,
    pair: { cert: await read('admin.crt'), key: await read('admin.key') },
  });
  const askers = setup.adopt<Asker[]>([], closeAll);
  setup.defer(() => admin.close());
  await createCanaries(admin, secrets);

  function asker(pair: Pair | undefined, headers: Record<string, string> = {}): Asker {
    const opened = new Asker({ port, ca, pair }, headers, secrets);
    askers.push(opened);
    return opened;
  }

  async function issue({
    commonName = 'somebody',
    organizations = [],
    ...more
  }: Partial<Wanted>): Promise<Pair> {
    const { use = 'client', now = Date.now() } = more;
    const subject = { commonName, organizations };
    const pair = await issuePair(authority, { subject, names: noNames, use, lifetimeMs: hourMs, now });
    secrets.keepKey('the key of a client', pair.key);
    return pair;
  }

  const stranger = asker(await issue({ commonName: 'stranger' }));
  const resources = setup.move();
  return {
    port,
    process: server.process,
    ca,
    secrets,
    admin,
    nobody: asker(undefined),
    stranger,
    node: async (name) =>
      asker(await issue({ commonName: `system:node:${name}`, organizations: ['system:nodes'] })),
    holder: (pair) => asker(pair),
    showing: (authorization) => asker(undefined, { authorization }),
    bearer: (token) => asker(undefined, { authorization: `Bearer ${token}` }),
    issue,
    tokenKey,
    listedToken,
    async [Symbol.asyncDispose]() {
      await using _all = resources;
      secrets.tell('the metrics', (await admin.request('GET', '/metrics')).text);
      await server.process.stop();
      secrets.tell('the audit log', await readFile(files.audit, 'utf8'));
      secrets.tell('the log', server.process.stdout + server.process.stderr);
      secrets.assertNoneTold();
    },
  };
}

function closeAll(askers: readonly Asker[]): void {
  for (const asker of askers) asker.close();
}

/** Objects whose content must not come back to anybody who may not read it. */
async function createCanaries(admin: ApiTester, secrets: Secrets): Promise<void> {
  for (const namespace of ['default', 'kube-system']) {
    const canary = secrets.keep(`the content of a Secret in ${namespace}`, `canary-${randomUUID()}`);
    const body = { metadata: { name: 'canary' }, stringData: { canary } };
    await admin.must('POST', `/api/v1/namespaces/${namespace}/secrets`, body);
  }
}
