import { StatusError } from '../../api/index.ts';

/** How many requests are worked on at once; what comes beyond is told to come again. */
export interface InFlightLimits {
  reading: number;
  mutating: number;
}

/** As the reference has them. */
export const defaultInFlight: InFlightLimits = { reading: 400, mutating: 200 };

/** Takes a seat, given back by disposing; throws 429 when there is none. */
export function inFlightLimiter(limits: InFlightLimits): (method: string) => Disposable {
  const busy = { reading: 0, mutating: 0 };
  return (method) => {
    const sort = method === 'GET' || method === 'HEAD' ? 'reading' : 'mutating';
    if (busy[sort] >= limits[sort]) {
      const message = 'too many requests are in flight: try again later';
      throw new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
    }
    busy[sort]++;
    let taken = true;
    return {
      [Symbol.dispose]() {
        if (taken) busy[sort]--;
        taken = false;
      },
    };
  };
}
