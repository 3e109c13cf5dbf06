/** The feature's operations. */
export { secretsCheck, secretsResolve } from './operations.ts';
