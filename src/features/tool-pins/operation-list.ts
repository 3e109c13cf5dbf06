/** The feature's operations. */
export { mcpToolsCheck } from './check-operation.ts';
export { mcpPinsApprove, mcpPinsList, mcpPinsReject } from './pin-operations.ts';
