import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, Histogram } from '../../../base/index.ts';
import type { Decision } from '../types.ts';

/** The metrics of questions to the other server; their names are those of the reference. */
export interface WebhookMetrics {
  answered(verdict: Decision['verdict'], tookMs: number): void;
  failed(late: boolean, tookMs: number): void;
  /** A failure was treated as no opinion. */
  passedOver(): void;
}

/** The name of the only such authorizer, for the label. */
const name = 'webhook';

export function createWebhookMetrics(metrics: MetricsRegistry): WebhookMetrics {
  const registers = [metrics];
  const evaluations = new Counter({
    name: 'apiserver_authorization_webhook_evaluations_total',
    help: 'Questions to the authorization webhook, by what came of them: success, error or timeout.',
    labelNames: ['name', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'apiserver_authorization_webhook_duration_seconds',
    help: 'How long the authorization webhook took to answer, by what came of it.',
    labelNames: ['name', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const decisions = new Counter({
    name: 'apiserver_authorization_decisions_total',
    help: 'What the authorization webhook has decided; answers from the cache are not counted.',
    labelNames: ['type', 'name', 'decision'],
    registers,
  });
  const failOpen = new Counter({
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    help: 'Failures of the authorization webhook that were taken for no opinion.',
    labelNames: ['name', 'result'],
    registers,
  });
  const count = (result: string, tookMs: number) => {
    evaluations.inc({ name, result });
    seconds.observe({ name, result }, tookMs / 1000);
  };
  const decisionNames = { allow: 'allowed', deny: 'denied', noOpinion: 'no-opinion' } as const;
  return {
    answered(verdict, tookMs) {
      count('success', tookMs);
      decisions.inc({ type: 'Webhook', name, decision: decisionNames[verdict] });
    },
    failed: (late, tookMs) => count(late ? 'timeout' : 'error', tookMs),
    passedOver: () => failOpen.inc({ name, result: 'error' }),
  };
}
