/** Which nodes required affinity between pods leaves, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec, PodWords } from './cluster.ts';
import { app, fourNodes, webOn } from './cluster.ts';
import { judge, passing } from './judge.ts';

describe('InterPodAffinity', () => {
  type Affinity = NonNullable<PodSpec['affinity']>;
  type Term = NonNullable<
    NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >[number];
  const term = (change: Partial<Term> = {}): Term => ({
    ...{ topologyKey: 'zone', labelSelector: { matchLabels: app } },
    ...change,
  });
  const near = (...terms: Term[]): PodWords => ({
    spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  });
  const apart = (...terms: Term[]): PodWords => ({
    spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  });
  const all = 'a1 a2 b1 b2';
  const namespaces = { ns: { team: 'own' }, x: { team: 'red' }, y: { team: 'blue' } };
  const inX: PodWords = { node: 'a1', labels: app, namespace: 'x' };
  const web = webOn('a1');
  const rows: readonly [title: string, pod: PodWords, pods: PodWords[], expected: string][] = [
    ['near one of a zone', near(term()), web, 'a1 a2'],
    ['near one of a host', near(term({ topologyKey: 'host' })), web, 'a1'],
    ['near nobody', near(term()), [], ''],
    ['near where there are only others', near(term()), [{ node: 'a1', labels: { app: 'db' } }], ''],
    ['near one that leaves', near(term()), [{ node: 'a1', labels: app, isLeaving: true }], 'a1 a2'],
    ['the first of its group', { ...near(term()), labels: app }, [], all],
    ['the second of its group', { ...near(term()), labels: app }, web, 'a1 a2'],
    [
      'the first of its group, which is of another namespace',
      { ...near(term({ namespaces: ['x'] })), labels: app },
      [],
      '',
    ],
    [
      'both terms in one zone',
      near(term(), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [{ node: 'a1', labels: { ...app, tier: 'front' } }],
      'a1 a2',
    ],
    [
      'one pod must meet all terms',
      near(term(), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [
        { node: 'a1', labels: app },
        { node: 'a1', labels: { tier: 'front' } },
      ],
      '',
    ],
    ['terms by zone and host', near(term(), term({ topologyKey: 'host' })), web, 'a1'],
    ['pods of other namespaces', near(term()), [inX], ''],
    ['namespaces that are named', near(term({ namespaces: ['x'] })), [inX], 'a1 a2'],
    ['namespaces that are named leave out its own', near(term({ namespaces: ['x'] })), web, ''],
    [
      'a selector of namespaces',
      near(term({ namespaceSelector: { matchLabels: { team: 'red' } } })),
      [inX],
      'a1 a2',
    ],
    [
      'a selector of other namespaces',
      near(term({ namespaceSelector: { matchLabels: { team: 'blue' } } })),
      [inX],
      '',
    ],
    ['the empty selector is of all namespaces', near(term({ namespaceSelector: {} })), [inX], 'a1 a2'],
    [
      'names and selector together',
      near(term({ namespaces: ['y'], namespaceSelector: { matchLabels: { team: 'red' } } })),
      [inX],
      'a1 a2',
    ],
    ['no selector of pods selects none', near({ topologyKey: 'zone' }), web, ''],
    ['the empty selector of pods selects all', near(term({ labelSelector: {} })), [{ node: 'b1' }], 'b1 b2'],
    [
      'NotIn',
      near(
        term({ labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] } }),
      ),
      web,
      'a1 a2',
    ],
    ['apart from one of a zone', apart(term()), web, 'b1 b2'],
    ['apart from one of a host', apart(term({ topologyKey: 'host' })), web, 'a2 b1 b2'],
    ['apart from nobody', apart(term()), [], all],
    ['apart from its own like', { ...apart(term()), labels: app }, web, 'b1 b2'],
    ['apart from its own like in every zone', { ...apart(term()), labels: app }, webOn('a1 b1'), ''],
    ['apart from one that leaves', apart(term()), [{ node: 'a1', labels: app, isLeaving: true }], 'b1 b2'],
    [
      'apart, each term by itself',
      apart(term({ topologyKey: 'host' }), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [
        { node: 'a1', labels: app },
        { node: 'b1', labels: { tier: 'front' } },
      ],
      'a2',
    ],
    ['apart from pods of other namespaces', apart(term()), [inX], all],
    ['apart from pods of named namespaces', apart(term({ namespaces: ['x'] })), [inX], 'b1 b2'],
    ['apart from all namespaces', apart(term({ namespaceSelector: {} })), [inX], 'b1 b2'],
    ['a label that no node has', apart(term({ topologyKey: 'rack' })), web, all],
    ['near by a label that no node has', near(term({ topologyKey: 'rack' })), web, ''],
    [
      'the first of its group by a label that no node has',
      { ...near(term({ topologyKey: 'rack' })), labels: app },
      [],
      '',
    ],
    ['others want it apart', { labels: app }, [{ node: 'a1', ...apart(term()) }], 'b1 b2'],
    [
      'others want it apart by host',
      { labels: app },
      [{ node: 'a1', ...apart(term({ topologyKey: 'host' })) }],
      'a2 b1 b2',
    ],
    ['others want other pods apart', { labels: { app: 'db' } }, [{ node: 'a1', ...apart(term()) }], all],
    [
      'others of another namespace mean their own',
      { labels: app },
      [{ node: 'a1', namespace: 'x', ...apart(term()) }],
      all,
    ],
    [
      'others of another namespace mean this one',
      { labels: app },
      [{ node: 'a1', namespace: 'x', ...apart(term({ namespaces: ['ns'] })) }],
      'b1 b2',
    ],
    [
      'others of another namespace mean it by its labels',
      { labels: app },
      [
        {
          node: 'a1',
          namespace: 'x',
          ...apart(term({ namespaceSelector: { matchLabels: { team: 'own' } } })),
        },
      ],
      'b1 b2',
    ],
    ['others want it near, which is their matter', { labels: app }, [{ node: 'a1', ...near(term()) }], all],
    [
      'matchLabelKeys',
      { ...apart(term({ matchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '1' } }],
      all,
    ],
    [
      'matchLabelKeys of the same revision',
      { ...apart(term({ matchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '2' } }],
      'b1 b2',
    ],
    [
      'mismatchLabelKeys',
      { ...apart(term({ mismatchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '1' } }],
      'b1 b2',
    ],
    [
      'mismatchLabelKeys of the same revision',
      { ...apart(term({ mismatchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '2' } }],
      all,
    ],
  ];
  for (const [title, pod, pods, expected] of rows) {
    test(`${title}: ${expected || 'none'}`, () =>
      assert.equal(passing(judge(pod, { nodes: fourNodes, pods, namespaces })), expected));
  }
  const reasons: readonly [title: string, pod: PodWords, pods: PodWords[], expected: string][] = [
    ['nobody is near', near(term()), [], "node(s) didn't match pod affinity rules (final)"],
    ['somebody is not apart', apart(term()), web, "node(s) didn't match pod anti-affinity rules"],
    [
      'somebody wants it apart',
      { labels: app },
      [{ node: 'a1', ...apart(term()) }],
      "node(s) didn't satisfy existing pods anti-affinity rules",
    ],
  ];
  for (const [title, pod, pods, expected] of reasons) {
    test(`${title}: ${expected}`, () => {
      const verdicts = judge(pod, { nodes: fourNodes, pods });
      assert.equal(typeof verdicts === 'string' ? verdicts : verdicts['a1'], expected);
    });
  }
});
