import { file } from './file.ts';

/** The only list of alert channels, in alphabetical order. */
export const alertChannelDrivers = [file] as const;
