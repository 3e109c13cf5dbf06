/** The operations of the feature. */
export { keysCreate, keysList, keysRevoke, keysRotate } from './operations.ts';
