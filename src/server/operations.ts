import {
  dashboardIntelligenceExplain,
  intelligenceAutoConfig,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceIntegrate,
  intelligenceRecommend,
  intelligenceStatus,
} from '../features/advisors/operations.ts';
import {
  alertsAcknowledge,
  alertsHistory,
  alertsResolve,
  alertsShow,
} from '../features/alerts/alert-operations.ts';
import { alertsDeliveries, alertsResend, alertsTest } from '../features/alerts/delivery-operations.ts';
import { alertsEvaluate } from '../features/alerts/evaluate-operation.ts';
import { alertRulesList, alertRulesRemove, alertRulesSave } from '../features/alerts/rule-operations.ts';
import {
  alertSilencesAdd,
  alertSilencesList,
  alertSilencesRemove,
} from '../features/alerts/silence-operations.ts';
import {
  allowlistDetectorAdd,
  allowlistDetectorList,
  allowlistDetectorRevoke,
} from '../features/allowlist/detector-operations.ts';
import { allowlistAdd, allowlistList, allowlistRemove } from '../features/allowlist/operations.ts';
import { keysCreate, keysList, keysRevoke, keysRotate } from '../features/api-keys/operations.ts';
import { complianceReport, complianceVerify } from '../features/compliance/operations.ts';
import { observeAgent, observeAgents } from '../features/console/agent-operations.ts';
import {
  dashboardApprovals,
  dashboardApprovalsApprove,
  dashboardApprovalsDeny,
  dashboardApprovalsDenyMany,
} from '../features/console/approval-operations.ts';
import { dashboardBreakdown, dashboardRules } from '../features/console/breakdown-operations.ts';
import { dashboardDetection } from '../features/console/detection-operation.ts';
import { dashboardEventsQuery, dashboardIncidents } from '../features/console/event-operations.ts';
import { observeHooks } from '../features/console/hook-operations.ts';
import { dashboardIncident } from '../features/console/incident-operation.ts';
import { dashboardOverview } from '../features/console/overview-operation.ts';
import { observeSession, observeSessions } from '../features/console/session-operations.ts';
import { dashboardTemplates, dashboardTemplatesSearch } from '../features/console/template-operations.ts';
import { observeMetrics, observeToolContract, observeTools } from '../features/console/tool-operations.ts';
import { actionTry, detectionTry } from '../features/console/try-operation.ts';
import { checkBudget, dashboardCostBudgets } from '../features/costs/budget-operations.ts';
import { dashboardCostReport, dashboardCostSummary } from '../features/costs/spending-operations.ts';
import { auditActionsErase } from '../features/evidence/erase-operation.ts';
import { auditHoldAdd, auditHoldRemove, auditHoldsList } from '../features/evidence/hold-operations.ts';
import {
  auditTaskCancel,
  auditTaskShow,
  auditTasks,
  auditVerifyStart,
  evidencePackDownload,
  evidencePackStart,
} from '../features/evidence/task-operations.ts';
import {
  memoryPurgeExpired,
  memoryRead,
  memoryResolveHandle,
  memoryWrite,
} from '../features/memory/operations.ts';
import { policyCase } from '../features/policy-versions/case-operation.ts';
import {
  policyDocumentRollback,
  policyDocumentSave,
  policyDocumentShow,
  policyVersionDiff,
  policyVersionsList,
} from '../features/policy-versions/document-operations.ts';
import { policyLint, policyReplay, policyTest } from '../features/policy-versions/draft-operations.ts';
import {
  skillInstall,
  skillRemove,
  skillShow,
  skillsList,
} from '../features/policy-versions/skill-operations.ts';
import {
  dashboardTemplateInstall,
  dashboardTemplateRemove,
} from '../features/policy-versions/template-operations.ts';
import { auditImport } from '../features/reported-decisions/operations.ts';
import { secretsCheck, secretsResolve } from '../features/secrets/operations.ts';
import { tenantsCreate, tenantsList } from '../features/tenants/operations.ts';
import {
  tenantPoliciesRollback,
  tenantPoliciesSave,
  tenantPoliciesShow,
  tenantPolicyDiff,
  tenantPolicyVersions,
} from '../features/tenants/policy-operations.ts';
import { mcpToolsCheck } from '../features/tool-pins/check-operation.ts';
import { mcpPinsApprove, mcpPinsList, mcpPinsReject } from '../features/tool-pins/pin-operations.ts';
import { proxyForward } from '../gateways/forward/operations.ts';
import { LLM_ENDPOINTS } from '../gateways/llm/endpoints.ts';
import { adapterCheck } from '../operations/adapters.ts';
import { agentsBlock, agentsBlocked, agentsUnblock } from '../operations/agent-blocks.ts';
import { approvalsOpen } from '../operations/approval-link.ts';
import {
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsShow,
} from '../operations/approvals.ts';
import { auditQuery } from '../operations/audit.ts';
import {
  capabilitiesIssue,
  capabilitiesList,
  capabilitiesRevoke,
  capabilitiesShow,
  capabilitiesValidate,
} from '../operations/capabilities.ts';
import { policyExplain } from '../operations/explain.ts';
import { scanFile } from '../operations/file.ts';
import { guardOutput } from '../operations/guard.ts';
import { health, ready } from '../operations/health.ts';
import { interceptAgentMessage, interceptTool } from '../operations/intercept.ts';
import { metrics } from '../operations/metrics.ts';
import { authMethods, authOidcCallback, authOidcStart } from '../operations/oidc.ts';
import type { AnyOperation } from '../operations/operation.ts';
import {
  sessionList,
  sessionPassword,
  sessionRevoke,
  sessionTotpConfirm,
  sessionTotpProve,
  sessionTotpRemove,
  sessionTotpStart,
} from '../operations/own-account.ts';
import {
  passkeyAdd,
  passkeyList,
  passkeyOptions,
  passkeyProve,
  passkeyRemove,
  passkeySignIn,
  passkeySignInOptions,
} from '../operations/passkeys.ts';
import { pluginsList } from '../operations/plugins.ts';
import { policiesReload, policyEvaluate } from '../operations/policies.ts';
import { scanInput, scanStructured } from '../operations/scan.ts';
import { serviceStatus } from '../operations/service-status.ts';
import { agentSessionReset, sessionReset } from '../operations/sessions.ts';
import { settingsShow } from '../operations/settings.ts';
import {
  sessionSecondFactor,
  sessionSetUp,
  sessionShow,
  sessionSignIn,
  sessionSignOut,
} from '../operations/sign-in.ts';
import { policyTemplate, policyTemplates } from '../operations/templates.ts';
import {
  usersAdd,
  usersDisable,
  usersEnable,
  usersList,
  usersReset,
  usersRole,
  usersSessions,
  usersSignOut,
  usersUnlock,
} from '../operations/users.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';

/** All operations, in alphabetical order. They are referenced by value, so a missing name does not compile. */
export const operationCatalogue = {
  actionTry,
  adapterCheck,
  agentSessionReset,
  agentsBlock,
  agentsBlocked,
  agentsUnblock,
  alertRulesList,
  alertRulesRemove,
  alertRulesSave,
  alertSilencesAdd,
  alertSilencesList,
  alertSilencesRemove,
  alertsAcknowledge,
  alertsDeliveries,
  alertsEvaluate,
  alertsHistory,
  alertsResend,
  alertsResolve,
  alertsShow,
  alertsTest,
  allowlistAdd,
  allowlistDetectorAdd,
  allowlistDetectorList,
  allowlistDetectorRevoke,
  allowlistList,
  allowlistRemove,
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsOpen,
  approvalsShow,
  auditActionsErase,
  auditHoldAdd,
  auditHoldRemove,
  auditHoldsList,
  auditImport,
  auditQuery,
  auditTaskCancel,
  auditTaskShow,
  auditTasks,
  auditVerifyStart,
  authMethods,
  authOidcCallback,
  authOidcStart,
  capabilitiesIssue,
  capabilitiesList,
  capabilitiesRevoke,
  capabilitiesShow,
  capabilitiesValidate,
  checkBudget,
  complianceReport,
  complianceVerify,
  dashboardApprovals,
  dashboardApprovalsApprove,
  dashboardApprovalsDeny,
  dashboardApprovalsDenyMany,
  dashboardBreakdown,
  dashboardCostBudgets,
  dashboardCostReport,
  dashboardCostSummary,
  dashboardDetection,
  dashboardEventsQuery,
  dashboardIncident,
  dashboardIncidents,
  dashboardIntelligenceExplain,
  dashboardOverview,
  dashboardRules,
  dashboardTemplateInstall,
  dashboardTemplateRemove,
  dashboardTemplates,
  dashboardTemplatesSearch,
  detectionTry,
  evidencePackDownload,
  evidencePackStart,
  guardOutput,
  health,
  intelligenceAutoConfig,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceIntegrate,
  intelligenceRecommend,
  intelligenceStatus,
  interceptAgentMessage,
  interceptTool,
  keysCreate,
  keysList,
  keysRevoke,
  keysRotate,
  mcpPinsApprove,
  mcpPinsList,
  mcpPinsReject,
  mcpToolsCheck,
  memoryPurgeExpired,
  memoryRead,
  memoryResolveHandle,
  memoryWrite,
  metrics,
  observeAgent,
  observeAgents,
  observeHooks,
  observeMetrics,
  observeSession,
  observeSessions,
  observeToolContract,
  observeTools,
  passkeyAdd,
  passkeyList,
  passkeyOptions,
  passkeyProve,
  passkeyRemove,
  passkeySignIn,
  passkeySignInOptions,
  pluginsList,
  policiesReload,
  policyCase,
  policyDocumentRollback,
  policyDocumentSave,
  policyDocumentShow,
  policyEvaluate,
  policyExplain,
  policyLint,
  policyReplay,
  policyTemplate,
  policyTemplates,
  policyTest,
  policyVersionDiff,
  policyVersionsList,
  proxyForward,
  ready,
  scanFile,
  scanInput,
  scanStructured,
  secretsCheck,
  secretsResolve,
  serviceStatus,
  sessionList,
  sessionPassword,
  sessionReset,
  sessionRevoke,
  sessionSecondFactor,
  sessionSetUp,
  sessionShow,
  sessionSignIn,
  sessionSignOut,
  sessionTotpConfirm,
  sessionTotpProve,
  sessionTotpRemove,
  sessionTotpStart,
  settingsShow,
  skillInstall,
  skillRemove,
  skillShow,
  skillsList,
  tenantPoliciesRollback,
  tenantPoliciesSave,
  tenantPoliciesShow,
  tenantPolicyDiff,
  tenantPolicyVersions,
  tenantsCreate,
  tenantsList,
  usersAdd,
  usersDisable,
  usersEnable,
  usersList,
  usersReset,
  usersRole,
  usersSessions,
  usersSignOut,
  usersUnlock,
};

/** The operations as a list. */
export const operations: readonly AnyOperation[] = Object.values(operationCatalogue);

/** The metric labels of all checks: the operations and the stages of the LLM proxy. */
export const endpoints: readonly Endpoint[] = [
  ...operations.flatMap(({ name, counts_checks }) => (counts_checks === true ? [name] : [])),
  ...LLM_ENDPOINTS,
];

/** Returns the operation with this name, or `undefined`. */
export function findOperation(name: string): AnyOperation | undefined {
  return operations.find((operation) => operation.name === name);
}
