/**
 * The main module of the daemon: `node resident-process.ts VERSION [CONFIGURATION]`. A hook starts it in the
 * background. `service hook --daemon` runs the same daemon in the foreground.
 */
import { runResident } from './resident.ts';

const [version, path = null] = process.argv.slice(2);
await runResident(path, version!);
