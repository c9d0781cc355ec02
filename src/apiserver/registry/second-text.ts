import { formatTime } from '../../api/index.ts';

/** The second that it is, as it stands in metadata; to write it out takes longer than most of what a heartbeat costs. */
export class SecondText {
  #second = Number.NaN;
  #text = '';

  /** RFC 3339 of a time in milliseconds. */
  at(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = formatTime(now);
    }
    return this.#text;
  }
}
