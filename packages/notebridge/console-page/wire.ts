import type { OwnerBody } from '../src/doors/owner/owner-schemas.js';

/* The bodies of the owner's routes, by short names. Types alone: the page has no schema at run time. */

export type HubReport = OwnerBody<'Hub'>;
export type ClusterReport = OwnerBody<'Cluster'>;
export type HubInCluster = OwnerBody<'HubOfCluster'>;
export type ServerState = HubReport['servers'][number];
export type Server = OwnerBody<'Server'>;
export type Tool = OwnerBody<'Tool'>;
export type Call = OwnerBody<'Call'>;
export type Approval = OwnerBody<'Approval'>;
export type Grant = OwnerBody<'Grant'>;
export type LogLine = OwnerBody<'Log'>['lines'][number];
export type Agent = OwnerBody<'Agents'>['agents'][number];
export type Notebook = OwnerBody<'Notebooks'>['notebooks'][number];
export type Lease = OwnerBody<'OfLease'>['lease'];
export type OtherProcess = OwnerBody<'Processes'>['processes'][number];
export type ConfigState = OwnerBody<'Config'>;
