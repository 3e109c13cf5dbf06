/**
 * The main module of the daemon: `node daemon-process.ts VERSION [CONFIGURATION]`. A hook starts it in the
 * background. `customshouse hook --daemon` runs the same daemon in the foreground.
 */
import { runDaemon } from './run-daemon.ts';

const [version, path = null] = process.argv.slice(2);
await runDaemon(path, version!);
