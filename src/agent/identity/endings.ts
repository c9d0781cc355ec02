import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';
import type { Identity } from './credentials.ts';

export interface EndingOptions {
  identity: Identity;
  clock: Clock;
  log: Logger;
  metrics: MetricsRegistry;
}

/** Looks after certificates that nobody has renewed in time. */
export interface EndingWatch {
  /** What is wrong with the certificates in use now, for people; logged and counted once for each certificate. */
  remarks(): readonly string[];
}

const dayMs = 24 * 3600_000;
/** The agent renews its own with a third of their life left, so one that comes here could not be renewed. */
const shareLeft = 0.1;
const maxLeftMs = 30 * dayMs;

type Name = 'client' | 'serving';

/** Tells of a certificate with less than a tenth of its life left, at most 30 days, that has ended, or has not begun. */
export function watchEndings({ identity, clock, log, metrics }: EndingOptions): EndingWatch {
  const figures = createFigures(metrics);
  const told = new Map<Name, string>();
  const spans = new Map<Name, { pem: string; span: Span | undefined }>();

  /** A certificate is read once. */
  function spanOf(name: Name, pem: string): Span | undefined {
    const known = spans.get(name);
    if (known?.pem === pem) return known.span;
    const span = readSpan(pem);
    spans.set(name, { pem, span });
    if (span !== undefined) figures.end.set({ certificate: name }, span.notAfterMs / 1000);
    return span;
  }

  function look(name: Name, pem: string | undefined): string[] {
    const span = pem === undefined ? undefined : spanOf(name, pem);
    const wrong = span && faultOf(span, clock.now());
    const remark = wrong === undefined ? '' : `the ${name} certificate ${wrong}`;
    if (remark !== '' && told.get(name) !== remark) {
      log.warn({ certificate: name }, remark);
      figures.troubles.inc({ certificate: name });
    }
    told.set(name, remark);
    return remark === '' ? [] : [remark];
  }

  return {
    remarks: () => [
      ...look('client', identity.api.value?.cert),
      ...look('serving', identity.serving.value?.pair.cert),
    ],
  };
}

type Span = ReturnType<typeof validity>;

function readSpan(pem: string): Span | undefined {
  try {
    return validity(pem);
  } catch {
    return undefined; // whoever uses it says what is wrong
  }
}

function faultOf({ notBeforeMs, notAfterMs }: Span, now: number): string | undefined {
  if (now < notBeforeMs) return `is valid only from ${text(notBeforeMs)} on: is the clock right?`;
  if (now >= notAfterMs) return `ended at ${text(notAfterMs)}`;
  const minLeftMs = Math.min((notAfterMs - notBeforeMs) * shareLeft, maxLeftMs);
  return notAfterMs - now < minLeftMs ? `ends at ${text(notAfterMs)} and has not been renewed` : undefined;
}

const text = (ms: number) => new Date(ms).toISOString();

function createFigures(metrics: MetricsRegistry) {
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
