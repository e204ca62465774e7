/**
 * What a hub knows of its own place in the cluster. `joining`: it never had one yet. `refused`: it gets none until it is started again. `lost`: it
 * has lost it, and knows of no hub that has one. `lost_alone`: it has lost it, and another hub has its own.
 */
export type HubPlace = 'held' | 'joining' | 'refused' | 'lost' | 'lost_alone';

/** What a hub answers another one that has lost NATS. `proof`: of the key of the cluster, for the very question. */
export interface PlaceAnswer {
  place: 'held' | 'lost';
  proof: string;
}

/** The place of a hub, for its readiness. */
export interface WatchedPlace {
  readonly place: HubPlace;
  answer(challenge: string): PlaceAnswer;
}
