/**
 * What deciding costs, and whether it costs the same however many bindings there are:
 * `node bench/authorization.ts [quick] [built]`. First bare decisions in this process, with what they allocate
 * and what a binding takes in the index; then SubjectAccessReviews over TLS, CPU of the server with all its threads, and
 * what a binding takes in all.
 */
import { buildUnlessBuilt } from './apiserver/build.ts';
import type { Measured } from './apiserver/load.ts';
import { loadOf, measure } from './apiserver/load.ts';
import { pssMiB } from './apiserver/process-cost.ts';
import type { Server } from './apiserver/server.ts';
import { startBaseline, startServer } from './apiserver/server.ts';
import {
  allocatedBytes,
  asker,
  decisionsPerSecond,
  policyOf,
  questions,
  richPolicyOf,
} from './authorization-policy.ts';
import { printRow, verdict } from './report.ts';

const quick = process.argv.includes('quick');
const counts = quick ? [10, 1_000, 10_000] : [10, 1_000, 10_000, 50_000, 100_000];
const reviewsEach = quick ? 4_000 : 20_000;
/** Until V8 has compiled what reviews take: the first count must not pay for the others. */
const warmUp = quick ? 10_000 : 60_000;
const connections = 64;
const targetCpuMs = 0.09;

const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
const clusterBindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';

async function main(): Promise<void> {
  measureDecisions();
  measureRich();
  process.stdout.write('\n');
  await buildUnlessBuilt();
  await measureReviews();
}

function measureDecisions(): void {
  printRow(['bare decisions', 'per second', 'ns each', 'bytes each', 'bytes/binding']);
  for (const count of counts) {
    const { authorizer, bytesPerBinding } = policyOf(count);
    for (const [what, attributes] of Object.entries(questions)) {
      const perSecond = decisionsPerSecond(authorizer, asker, attributes);
      printRow([
        `${count} bindings, ${what}`,
        perSecond.toFixed(0),
        (1e9 / perSecond).toFixed(0),
        allocatedBytes(authorizer, asker, attributes).toFixed(0),
        bytesPerBinding.toFixed(0),
      ]);
    }
  }
}

/** A user who has very many rules, none of which allows what is asked. */
function measureRich(): void {
  const rules = 5_000;
  for (const [what, inOneRole] of [
    ['roles of one rule', false],
    ['rules of one role', true],
  ] as const) {
    const perSecond = decisionsPerSecond(richPolicyOf(rules, inOneRole), asker, questions.allowed);
    printRow([`${rules} ${what}, refused`, perSecond.toFixed(0), (1e9 / perSecond).toFixed(0)]);
  }
}

async function measureReviews(): Promise<void> {
  await using server = await startServer();
  const { target } = server;
  const before = await pssMiB(target.pid);
  printRow([
    'SubjectAccessReview over TLS',
    'per second',
    'CPU ms',
    '× bare',
    'p50 ms',
    'p99 ms',
    'target',
    '',
  ]);
  const bare = await measureBare(server);
  show('bare HTTPS server, 600 bytes', bare, bare);
  await measure(target, loadOf(warmUp, connections, reviewRequest));
  let made = 0;
  for (const count of counts) {
    const request = (index: number) => bindingRequest(made + index);
    await measure(target, loadOf(count - made, Math.min(connections, count - made), request));
    made = count;
    await measure(target, loadOf(reviewsEach / 4, connections, reviewRequest));
    const measured = await measure(target, loadOf(reviewsEach, connections, reviewRequest));
    show(`${count} bindings`, measured, bare, verdict(measured.cpuMs, targetCpuMs, 'ms CPU'));
  }
  const grown = (await pssMiB(target.pid)) - before;
  printRow([
    `memory, ${made} bindings`,
    `${grown.toFixed(0)} MiB`,
    `${((grown * 1024) / made).toFixed(2)} KiB each`,
  ]);
}

/** What a POST costs that nothing is done for. */
async function measureBare(server: Server): Promise<Measured> {
  await using bare = await startBaseline(server);
  const load = loadOf(reviewsEach, connections, (index) => ({
    ...reviewRequest(index),
    path: '/?bytes=600',
  }));
  await measure(bare.target, load);
  return await measure(bare.target, load);
}

function show(what: string, measured: Measured, bare: Measured, further: readonly string[] = []): void {
  const { perSecond, cpuMs, p50Ms, p99Ms } = measured;
  const ratio = (cpuMs / bare.cpuMs).toFixed(1);
  printRow([
    what,
    perSecond.toFixed(0),
    cpuMs.toFixed(3),
    ratio,
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    ...further,
  ]);
}

/** Half of them count in a namespace, half everywhere; each is for another user, the first ones for the user that is asked about. */
function bindingRequest(index: number) {
  const everywhere = index % 2 === 0;
  const name = index < 4 ? 'user-0' : `user-${index}`;
  return {
    method: 'POST',
    path: everywhere ? clusterBindings : bindings,
    body: JSON.stringify({
      metadata: { name: `bench-${index}` },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: everywhere ? 'view' : 'edit',
      },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
    }),
  };
}

/** One of two is allowed. */
function reviewRequest(index: number) {
  const resourceAttributes = {
    verb: index % 2 === 0 ? 'list' : 'escalate',
    resource: 'pods',
    namespace: 'default',
  };
  const spec = { user: 'user-0', groups: ['system:authenticated', 'devs'], resourceAttributes };
  return {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: JSON.stringify({ spec }),
  };
}

await main();
