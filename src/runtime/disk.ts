export { diskProblem } from '../drivers/stores/disk.ts';
