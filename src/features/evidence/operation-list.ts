/** The feature's operations. */
export { auditActionsErase } from './erase-operation.ts';
export { auditHoldAdd, auditHoldRemove, auditHoldsList } from './hold-operations.ts';
export {
  auditJobCancel,
  auditJobShow,
  auditJobs,
  auditVerifyStart,
  evidencePackDownload,
  evidencePackStart,
} from './job-operations.ts';
