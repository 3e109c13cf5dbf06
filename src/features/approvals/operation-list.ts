/** The feature's operations. */
export {
  dashboardApprovals,
  dashboardApprovalsApprove,
  dashboardApprovalsDeny,
  dashboardApprovalsDenyMany,
} from './console-operations.ts';
export { approvalsOpen } from './link-operation.ts';
export {
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsShow,
} from './operations.ts';
