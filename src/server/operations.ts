import { proxyForward } from '../gateways/forward/operations.ts';
import { LLM_ENDPOINTS } from '../gateways/llm/endpoints.ts';
import { adapterCheck } from '../operations/adapters.ts';
import { auditQuery } from '../operations/audit.ts';
import { clusterStatus } from '../operations/cluster.ts';
import { policyExplain } from '../operations/explain.ts';
import { scanFile } from '../operations/file.ts';
import { guardOutput } from '../operations/guard.ts';
import { health, ready } from '../operations/health.ts';
import { interceptAgentMessage, interceptTool } from '../operations/intercept.ts';
import { metrics } from '../operations/metrics.ts';
import type { AnyOperation } from '../operations/operation.ts';
import { pluginsList } from '../operations/plugins.ts';
import { policiesReload, policyEvaluate } from '../operations/policies.ts';
import { scanInput, scanStructured } from '../operations/scan.ts';
import { serviceStatus } from '../operations/service-status.ts';
import { agentSessionReset, sessionReset } from '../operations/sessions.ts';
import { settingsShow } from '../operations/settings.ts';
import { policyTemplate, policyTemplates } from '../operations/templates.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import * as featureOperations from './feature-operations.ts';

/** All operations. They are referenced by value, so a missing name does not compile. */
export const operationCatalogue = {
  ...featureOperations,
  adapterCheck,
  agentSessionReset,
  auditQuery,
  clusterStatus,
  guardOutput,
  health,
  interceptAgentMessage,
  interceptTool,
  metrics,
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
  serviceStatus,
  sessionReset,
  settingsShow,
};

/** All operations, sorted by their constants' names. */
export const operations: readonly AnyOperation[] = Object.entries<AnyOperation>(operationCatalogue)
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([, operation]) => operation);

/** The metric labels of all checks: the operations and the stages of the LLM proxy. */
export const endpoints: readonly Endpoint[] = [
  ...operations.flatMap(({ name, counts_checks }) => (counts_checks === true ? [name] : [])),
  ...LLM_ENDPOINTS,
];

/** Returns the operation with this name, or `undefined`. */
export function findOperation(name: string): AnyOperation | undefined {
  return operations.find((operation) => operation.name === name);
}
