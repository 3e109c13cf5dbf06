/** The feature's operations. */
export { auditImport } from './operations.ts';
