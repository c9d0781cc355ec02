import { after, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const part = (name: string, ...rules: object[]) => ({
  metadata: { name, labels: { gathered: 'yes' } },
  rules,
});

async function rulesOf(name: string): Promise<object[]> {
  const role = { rules: [], ...(await admin.must('GET', `${roles}/${name}`)) };
  return role.rules;
}

async function becomes(name: string, ...rules: object[]): Promise<void> {
  const same = async () => JSON.stringify(await rulesOf(name)) === JSON.stringify(rules);
  await waitFor(`${name} has ${JSON.stringify(rules)}`, same);
}

test('a role that gathers others has their rules, each once, in the order of their names', async () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { gathered: 'yes' } }] };
  await admin.must('POST', roles, part('part-b', rule('b'), rule('a')));
  await admin.must('POST', roles, { metadata: { name: 'whole' }, aggregationRule, rules: [rule('x')] });
  await becomes('whole', rule('b'), rule('a'));
  await admin.must('POST', roles, part('part-a', rule('a'), rule('c')));
  await becomes('whole', rule('a'), rule('c'), rule('b'));
});

test('what somebody writes into its rules is replaced', async () => {
  const whole = await admin.must('GET', `${roles}/whole`);
  await admin.must('PUT', `${roles}/whole`, { ...whole, rules: [rule('mine')] });
  await becomes('whole', rule('a'), rule('c'), rule('b'));
});

test('it follows the change, the label and the end of a part', async () => {
  await admin.must('PUT', `${roles}/part-a`, part('part-a', rule('d')));
  await becomes('whole', rule('d'), rule('b'), rule('a'));
  await admin.must('PUT', `${roles}/part-a`, { metadata: { name: 'part-a' }, rules: [rule('d')] });
  await becomes('whole', rule('b'), rule('a'));
  await admin.must('DELETE', `${roles}/part-b`);
  await becomes('whole');
});

test('one that gathers a role that gathers has all of it', async () => {
  const custom = {
    metadata: { name: 'more-to-view', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [rule('widgets')],
  };
  await admin.must('POST', roles, custom);
  const hasIt = async (name: string) =>
    (await rulesOf(name)).some((each) => JSON.stringify(each) === JSON.stringify(rule('widgets')));
  for (const name of ['view', 'edit', 'admin']) await waitFor(`${name} has it`, () => hasIt(name));
  await admin.must('DELETE', `${roles}/more-to-view`);
  for (const name of ['view', 'edit', 'admin']) {
    await waitFor(`${name} is as before`, async () => !(await hasIt(name)));
  }
});
