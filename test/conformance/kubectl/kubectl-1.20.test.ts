import { releases } from './release.ts';
import { kubectlSuite } from './suites/index.ts';

kubectlSuite(releases['1.20']);
