/** The feature's operations. */
export { observeAgent, observeAgents } from './agent-operations.ts';
export { dashboardBreakdown, dashboardRules } from './breakdown-operations.ts';
export { dashboardDetection } from './detection-operation.ts';
export { dashboardEventsQuery, dashboardIncidents } from './event-operations.ts';
export { observeHooks } from './hook-operations.ts';
export { dashboardIncident } from './incident-operation.ts';
export { dashboardOverview } from './overview-operation.ts';
export { observeSession, observeSessions } from './session-operations.ts';
export { dashboardTemplates, dashboardTemplatesSearch } from './template-operations.ts';
export { observeMetrics, observeToolContract, observeTools } from './tool-operations.ts';
export { actionTry, detectionTry } from './try-operation.ts';
