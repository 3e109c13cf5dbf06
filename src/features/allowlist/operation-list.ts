/** The feature's operations. */
export {
  allowlistDetectorAdd,
  allowlistDetectorList,
  allowlistDetectorRevoke,
} from './detector-operations.ts';
export { allowlistAdd, allowlistList, allowlistRemove } from './operations.ts';
