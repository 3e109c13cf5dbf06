export { StoreFailure, type StoreFailureCode } from '../../drivers/stores/failure.ts';
