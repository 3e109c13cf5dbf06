/** The feature's operations. */
export { auditActionsErase } from './erase-operation.ts';
export { auditHoldAdd, auditHoldRemove, auditHoldsList } from './hold-operations.ts';
export {
  auditTaskCancel,
  auditTaskShow,
  auditTasks,
  auditVerifyStart,
  evidencePackDownload,
  evidencePackStart,
} from './task-operations.ts';
