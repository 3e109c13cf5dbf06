/**
 * The main module of `customshouse hook`. It loads as little as possible, because the agent waits for it before every tool
 * call.
 */
import { runHook } from './run-hook.ts';
import { writeAll } from './streams.ts';

// Node would exit with 1, after which agents continue.
process.on('uncaughtException', () => {
  writeAll(2, 'A fault in the hook kept it from deciding, so it is refused.\n');
  process.exit(2);
});

const { argv, env, stdin } = process;
const at = argv.indexOf('hook');
void runHook({
  args: argv.slice(at + 1),
  env,
  cwd: process.cwd(),
  stdin,
  write: writeAll,
  exit: process.exit,
});
