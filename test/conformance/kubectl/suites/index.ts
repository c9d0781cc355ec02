import { after, before } from 'node:test';
import type { ControlPlane } from '../../control-plane/index.ts';
import { startControlPlane } from '../../control-plane/index.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { openShell } from '../shell.ts';
import { accessSuite } from './access.ts';
import { applySuite } from './apply.ts';
import { pruneSuite } from './apply-prune.ts';
import { createSuite } from './create.ts';
import { deleteSuite } from './delete.ts';
import { describeSuite } from './describe.ts';
import { diffSuite } from './diff.ts';
import { discoverySuite } from './discovery.ts';
import { dryRunSuite } from './dry-run.ts';
import { editSuite } from './edit.ts';
import { explainSuite } from './explain.ts';
import { generatorsSuite } from './generators.ts';
import { getSuite } from './get.ts';
import { jobsSuite } from './jobs.ts';
import { labelSuite } from './label.ts';
import { lastAppliedSuite } from './last-applied.ts';
import { nodesSuite } from './nodes.ts';
import { othersSuite } from './others.ts';
import { patchSuite } from './patch.ts';
import { podsSuite } from './pods.ts';
import { replaceSuite } from './replace.ts';
import { rolloutSetsSuite } from './rollout-sets.ts';
import { serverSideApplySuite } from './server-side-apply.ts';
import { setSuite } from './set.ts';
import { validationSuite } from './validation.ts';
import { waitSuite } from './wait.ts';
import { workloadsSuite } from './workloads.ts';

const suites = [
  discoverySuite,
  explainSuite,
  getSuite,
  createSuite,
  dryRunSuite,
  validationSuite,
  generatorsSuite,
  replaceSuite,
  applySuite,
  lastAppliedSuite,
  pruneSuite,
  serverSideApplySuite,
  diffSuite,
  editSuite,
  patchSuite,
  labelSuite,
  setSuite,
  nodesSuite,
  deleteSuite,
  describeSuite,
  waitSuite,
  rolloutSetsSuite,
  accessSuite,
  podsSuite,
  workloadsSuite,
  othersSuite,
  jobsSuite,
];

/** All that a kubectl is asked to do, against one control plane. What a release lacks is not asked of it. */
export function kubectlSuite(release: Release): void {
  let controlPlane: ControlPlane;
  before(async () => {
    controlPlane = await startControlPlane();
  });
  after(async () => {
    await controlPlane?.[Symbol.asyncDispose]();
  });
  const open: OpenShell = () => openShell(controlPlane, release);
  for (const suite of suites) suite(open, release);
}
