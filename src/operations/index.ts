import { adapterAsk } from './adapters.ts';
import { agentsBlock, agentsBlocked, agentsUnblock } from './agent-blocks.ts';
import { observeAgent, observeAgents, observeSession, observeSessions } from './agents.ts';
import {
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsShow,
} from './approvals.ts';
import { auditQuery } from './audit.ts';
import { checkBudget, dashboardCostBudgets } from './budgets.ts';
import {
  capabilitiesIssue,
  capabilitiesList,
  capabilitiesRevoke,
  capabilitiesShow,
  capabilitiesValidate,
} from './capabilities.ts';
import { dashboardCostReport, dashboardCostSummary } from './costs.ts';
import { policyExplain } from './explain.ts';
import { scanFile } from './file.ts';
import { proxyForward } from './forward.ts';
import { guardOutput } from './guard.ts';
import { health, ready } from './health.ts';
import {
  dashboardIntelligenceExplain,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceRecommend,
  intelligenceStatus,
} from './intelligence.ts';
import { interceptAgentMessage, interceptTool } from './intercept.ts';
import { mcpPinsApprove, mcpPinsList, mcpToolsCheck } from './mcp.ts';
import { memoryPurgeExpired, memoryRead, memoryResolveHandle, memoryWrite } from './memory.ts';
import { metrics } from './metrics.ts';
import type { AnyOperation } from './operation.ts';
import { pluginsList } from './plugins.ts';
import { policiesReload, policyEvaluate } from './policies.ts';
import { scanInput, scanStructured } from './scan.ts';
import { secretsCheck, secretsResolve } from './secrets.ts';
import { agentSessionReset, sessionReset } from './sessions.ts';
import { policyTemplate, policyTemplates } from './templates.ts';

/** Everything that one can ask for, in alphabetical order, by value: a name that does not exist does not compile. */
export const catalogue = {
  adapterAsk,
  agentSessionReset,
  agentsBlock,
  agentsBlocked,
  agentsUnblock,
  approvalsApprove,
  approvalsCancel,
  approvalsDeny,
  approvalsList,
  approvalsShow,
  auditQuery,
  capabilitiesIssue,
  capabilitiesList,
  capabilitiesRevoke,
  capabilitiesShow,
  capabilitiesValidate,
  checkBudget,
  dashboardCostBudgets,
  dashboardCostReport,
  dashboardCostSummary,
  dashboardIntelligenceExplain,
  guardOutput,
  health,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceRecommend,
  intelligenceStatus,
  interceptAgentMessage,
  interceptTool,
  mcpPinsApprove,
  mcpPinsList,
  mcpToolsCheck,
  memoryPurgeExpired,
  memoryRead,
  memoryResolveHandle,
  memoryWrite,
  metrics,
  observeAgent,
  observeAgents,
  observeSession,
  observeSessions,
  pluginsList,
  policiesReload,
  policyEvaluate,
  policyExplain,
  policyTemplate,
  policyTemplates,
  proxyForward,
  ready,
  scanFile,
  scanInput,
  scanStructured,
  secretsCheck,
  secretsResolve,
  sessionReset,
};

/** The same as a list. */
export const operations: readonly AnyOperation[] = Object.values(catalogue);

/** The operation of that name, `undefined` where there is none. */
export function operationNamed(name: string): AnyOperation | undefined {
  return operations.find((operation) => operation.name === name);
}
