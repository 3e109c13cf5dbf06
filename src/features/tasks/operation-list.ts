/** The feature's operations. */
export { tasksCreate, tasksDelegate, tasksList, tasksRevoke, tasksShow } from './operations.ts';
