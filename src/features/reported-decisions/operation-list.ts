/** The operations of the feature. */
export { auditImport } from './operations.ts';
