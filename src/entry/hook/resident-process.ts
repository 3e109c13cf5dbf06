/**
 * The main module of the resident process: `node resident-process.ts VERSION [CONFIGURATION]`. A hook starts it; so does
 * `service hook --daemon`, in its own place.
 */
import { runResident } from './resident.ts';

const [version, path = null] = process.argv.slice(2);
await runResident(path, version!);
