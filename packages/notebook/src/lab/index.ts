export { cellIdsIn } from '../host/kept-cell-ids.js';
export type { LabNotebook } from './lab-notebook.js';
export { findServerOfUser, type LabTarget } from './lab-servers.js';
export { LabWorkspace, type LabWorkspaceOptions } from './lab-workspace.js';
export { createOnServer, findLabAddresses } from './local-notebooks.js';
export { leaveOutServerFiles } from './local-servers.js';
export { lookAtServers, type ServerLook } from './look-at-servers.js';
export type { RunKeeper } from './run-keeper.js';
export { type LabAddress, parseLabAddress } from './server-address.js';
