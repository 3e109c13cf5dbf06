/** The operations of the feature. */
export { memoryPurgeExpired, memoryRead, memoryResolveHandle, memoryWrite } from './operations.ts';
