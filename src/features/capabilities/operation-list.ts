/** The feature's operations. */
export {
  capabilitiesIssue,
  capabilitiesList,
  capabilitiesRevoke,
  capabilitiesShow,
  capabilitiesValidate,
} from './operations.ts';
