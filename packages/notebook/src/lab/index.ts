export { cellIdsIn } from '../host/kept-files.js';
export type { LabNotebook } from './lab-notebook.js';
export { createOnServer, findLabAddresses, findServerOfUser, type LabTarget, lookAtServers, type ServerLook } from './lab-servers.js';
export { LabWorkspace, type LabWorkspaceOptions } from './lab-workspace.js';
export { leaveOutServerFiles } from './local-servers.js';
export type { RunKeeper } from './run-keeper.js';
export { type LabAddress, parseLabAddress } from './server-address.js';
