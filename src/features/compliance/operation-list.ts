/** The feature's operations. */
export { complianceReport, complianceVerify } from './operations.ts';
