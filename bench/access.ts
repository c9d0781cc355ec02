/**
 * What explanations and queries about access cost with many bindings, from the question to the finished answer:
 * `node bench/access.ts [quick]`. Bindings are made as in bench/authorization.ts: one in ten counts everywhere; and
 * once so that all count everywhere and everybody may do what is asked, which is the most there is to look at.
 */
import type { PolicyRule } from '../src/api/index.ts';
import { explain } from '../src/apiserver/access-answers/explain.ts';
import { listWhatCan } from '../src/apiserver/access-answers/what-can.ts';
import { listWhoCan } from '../src/apiserver/access-answers/who-can.ts';
import { mastersAuthorizer, PolicyIndex, rbacAuthorizer } from '../src/apiserver/authz/index.ts';
import { printRow, verdict } from './report.ts';

const group = 'rbac.authorization.k8s.io';
const count = process.argv.includes('quick') ? 10_000 : 50_000;
const targetMs = 5;
const repeat = 40;

const read = (resource: string): PolicyRule => ({
  verbs: ['get', 'list', 'watch'],
  apiGroups: [''],
  resources: [resource, `${resource}/log`],
});
const manyRoles = [read('configmaps'), read('services')];

/** Every fifth role allows to read pods, or each of them. */
function partsOf(everywhere: 'one in ten' | 'all') {
  const allow = (name: string) => everywhere === 'all' || Number(name.slice('role-'.length)) % 5 === 0;
  const index = new PolicyIndex({
    has: () => true,
    read: ({ name }) => (allow(name) ? [...manyRoles, read('pods')] : manyRoles),
  });
  for (let number = 0; number < count; number++) {
    const kind = number % 7 === 0 ? 'Group' : 'User';
    const namespace = everywhere === 'all' || number % 10 === 0 ? '' : `ns-${number % 100}`;
    const name = `${kind.toLowerCase()}-${number < 60 ? 0 : number}`;
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: `role-${number % 50}` };
    index.setBinding(`/registry/b/ns-${number}/b-${number}`, namespace, {
      roleRef,
      subjects: [{ kind, name }],
    });
  }
  const authorizers = [
    { name: 'system:masters', authorizer: mastersAuthorizer },
    { name: 'RBAC', authorizer: rbacAuthorizer(() => index, group) },
  ];
  return { authorizers, index, group };
}

const user = { name: 'user-0', groups: ['group-0', 'devs', 'system:authenticated'], extra: {} };
const pods = {
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns-1',
  name: '',
};

printRow([`${count} bindings`, 'p50 ms', 'p99 ms', 'bytes', 'target', '']);
for (const everywhere of ['one in ten', 'all'] as const) {
  const parts = partsOf(everywhere);
  const questions = {
    'explain, allowed': () => explain(parts, user, pods),
    'explain, refused': () => explain(parts, user, { ...pods, verb: 'delete' }),
    'who can': () => listWhoCan(parts, pods),
    'who can, nobody': () => listWhoCan(parts, { ...pods, verb: 'delete' }),
    'what can': () => listWhatCan(parts, user, ''),
  };
  for (const [what, ask] of Object.entries(questions)) {
    const answer = await ask();
    const times: number[] = [];
    for (let done = 0; done < repeat; done++) {
      const startedMs = performance.now();
      await ask();
      times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    const [p50 = 0, p99 = 0] = [times[repeat / 2], times[repeat - 1]];
    printRow([
      `${what} (everywhere: ${everywhere})`,
      p50.toFixed(2),
      p99.toFixed(2),
      String(JSON.stringify(answer).length),
      ...verdict(p50, targetMs, 'ms'),
    ]);
  }
}
