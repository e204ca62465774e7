/** In whose name a call waits for a person. */
export interface WhoWaits {
  /** With which rights: a grant, the owner. */
  readonly principal: string;
  /** One agent, as far as the wire tells: a grant may have many. */
  readonly agent: string;
}

/** Calls that wait at once: of one agent, of all with the same rights, and of all. */
export const mostWaiting = { ofAgent: 64, ofPrincipal: 256, ofAll: 1000 };

/** True if no more calls of this one may wait: it shall not keep others out, whatever it calls itself. */
export function isFull(waiting: Iterable<{ readonly who: WhoWaits }>, { principal, agent }: WhoWaits): boolean {
  let [ofAgent, ofPrincipal, ofAll] = [0, 0, 0];
  for (const { who } of waiting) {
    ofAll++;
    if (who.principal !== principal) continue;
    ofPrincipal++;
    if (who.agent === agent) ofAgent++;
  }
  return ofAgent >= mostWaiting.ofAgent || ofPrincipal >= mostWaiting.ofPrincipal || ofAll >= mostWaiting.ofAll;
}
