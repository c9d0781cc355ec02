import { releases } from './release.ts';
import { kubectlSuite } from './suites/index.ts';

kubectlSuite(releases.newest);
