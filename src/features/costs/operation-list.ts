/** The feature's operations. */
export { checkBudget, dashboardCostBudgets } from './budget-operations.ts';
export { dashboardCostReport, dashboardCostSummary } from './spending-operations.ts';
