/** The name of the detector of all commands in events and responses. */
export const COMMAND_FAMILY = 'command';

/** The id of the detector of commands in texts. */
export const COMMAND_IN_TEXT = 'command.in_text';
