/** The feature's operations. */
export { agentsBlock, agentsBlocked, agentsUnblock } from './operations.ts';
