/** The feature's operations. */
export { alertsAcknowledge, alertsHistory, alertsResolve, alertsShow } from './alert-operations.ts';
export { alertsDeliveries, alertsResend, alertsTest } from './delivery-operations.ts';
export { alertsEvaluate } from './evaluate-operation.ts';
export { alertRulesList, alertRulesRemove, alertRulesSave } from './rule-operations.ts';
export { alertSilencesAdd, alertSilencesList, alertSilencesRemove } from './silence-operations.ts';
