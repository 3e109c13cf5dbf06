/** The feature's operations. */
export { keysCreate, keysList, keysRevoke, keysRotate } from './operations.ts';
