/** The feature's operations. */
export {
  dashboardApprovals,
  dashboardApprovalsApprove,
  dashboardApprovalsDeny,
  dashboardApprovalsDenyMany,
} from './console-operations.ts';
export { approvalsGrantsList, approvalsGrantsRevoke, approvalsGrantsShow } from './grant-operations.ts';
export { approvalsOpen } from './link-operation.ts';
export {
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsShow,
} from './operations.ts';
export { approvalsProposal } from './proposal-operation.ts';
