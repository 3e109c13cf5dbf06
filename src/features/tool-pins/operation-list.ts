/** The operations of the feature. */
export { mcpToolsCheck } from './check-operation.ts';
export { mcpPinsApprove, mcpPinsList, mcpPinsReject } from './pin-operations.ts';
