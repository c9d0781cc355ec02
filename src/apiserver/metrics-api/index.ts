/** `metrics.k8s.io`: what nodes and pods use, asked of the agents when it is read. */
export { createMeasured, type MeasuredOptions } from './measured.ts';
export { NodeAnswers, type NodeAnswersOptions } from './node-answers.ts';
