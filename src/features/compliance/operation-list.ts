/** The operations of the feature. */
export { complianceReport, complianceVerify } from './operations.ts';
