import { runProgram } from './program.ts';
import { openProcessTerminal } from './terminal.ts';

process.exitCode = await runProgram(process.argv.slice(2), openProcessTerminal());
