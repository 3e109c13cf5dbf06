/** The feature's operations. */
export { policyCase } from './case-operation.ts';
export {
  policyDocumentRollback,
  policyDocumentSave,
  policyDocumentShow,
  policyVersionDiff,
  policyVersionsList,
} from './document-operations.ts';
export { policyLint, policyReplay, policyTest } from './draft-operations.ts';
export { skillInstall, skillRemove, skillShow, skillsList } from './skill-operations.ts';
export { dashboardTemplateInstall, dashboardTemplateRemove } from './template-operations.ts';
