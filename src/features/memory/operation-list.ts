/** The feature's operations. */
export { memoryPurgeExpired, memoryRead, memoryResolveHandle, memoryWrite } from './operations.ts';
