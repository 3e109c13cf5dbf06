/** The operations of the feature. */
export { secretsCheck, secretsResolve } from './operations.ts';
