/** An agent, as calls and windows know it. */
export interface LeaseAgent {
  /** Lasts as long as its connection or session. */
  id: string;
  name: string;
}
