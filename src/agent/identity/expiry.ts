import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';
import type { Identity } from './credentials.ts';

export interface ExpiryOptions {
  identity: Identity;
  clock: Clock;
  log: Logger;
  metrics: MetricsRegistry;
}

/** Watches for certificates that have not been renewed in time. */
export interface ExpiryWatch {
  /** Returns what is wrong with the certificates in use, for people; each problem is logged and counted once. */
  remarks(): readonly string[];
}

const dayMs = 24 * 3600_000;
/** The agent renews its certificates with a third of their life left: one with less than this could not be renewed. */
const minShareLeft = 0.1;
const maxMinLeftMs = 30 * dayMs;

type Name = 'client' | 'serving';

/** Reports a certificate that has expired, is not valid yet, or has less than a tenth of its life left (at most 30 days). */
export function watchExpiry({ identity, clock, log, metrics }: ExpiryOptions): ExpiryWatch {
  const counters = createExpiryMetrics(metrics);
  const logged = new Map<Name, string>();
  const spans = new Map<Name, { pem: string; span: Span | undefined }>();

  /** Parses each certificate once. */
  function readOnce(name: Name, pem: string): Span | undefined {
    const known = spans.get(name);
    if (known?.pem === pem) return known.span;
    const span = readSpan(pem);
    spans.set(name, { pem, span });
    if (span !== undefined) counters.end.set({ certificate: name }, span.notAfterMs / 1000);
    return span;
  }

  function check(name: Name, pem: string | undefined): string[] {
    const span = pem === undefined ? undefined : readOnce(name, pem);
    const fault = span && findExpiryFault(span, clock.now());
    const remark = fault === undefined ? '' : `the ${name} certificate ${fault}`;
    if (remark !== '' && logged.get(name) !== remark) {
      log.warn({ certificate: name }, remark);
      counters.troubles.inc({ certificate: name });
    }
    logged.set(name, remark);
    return remark === '' ? [] : [remark];
  }

  return {
    remarks: () => [
      ...check('client', identity.api.value?.cert),
      ...check('serving', identity.serving.value?.pair.cert),
    ],
  };
}

type Span = ReturnType<typeof validity>;

function readSpan(pem: string): Span | undefined {
  try {
    return validity(pem);
  } catch {
    return undefined; // the code that uses the certificate reports what is wrong
  }
}

function findExpiryFault({ notBeforeMs, notAfterMs }: Span, now: number): string | undefined {
  if (now < notBeforeMs) return `is valid only from ${formatTime(notBeforeMs)} on: is the clock right?`;
  if (now >= notAfterMs) return `ended at ${formatTime(notAfterMs)}`;
  const minLeftMs = Math.min((notAfterMs - notBeforeMs) * minShareLeft, maxMinLeftMs);
  return notAfterMs - now < minLeftMs
    ? `ends at ${formatTime(notAfterMs)} and has not been renewed`
    : undefined;
}

const formatTime = (ms: number) => new Date(ms).toISOString();

function createExpiryMetrics(metrics: MetricsRegistry) {
  const common = { labelNames: ['certificate'], registers: [metrics] };
  return {
    end: new Gauge({
      name: 'nodeward_certificate_expiration_timestamp_seconds',
      help: 'When the certificate ends, seconds since 1970, by what it is for: client or serving.',
      ...common,
    }),
    troubles: new Counter({
      name: 'nodeward_certificate_troubles_total',
      help: 'Certificates that came near their end, ended or had not begun, by what they are for.',
      ...common,
    }),
  };
}
