import { chatWebhookChannel } from './chat-webhook.ts';
import { discordChannel } from './discord.ts';
import { emailChannel } from './email.ts';
import { fileChannel } from './file.ts';
import { incidentChannel } from './incident.ts';
import { pagingChannel } from './paging.ts';
import { teamsChannel } from './teams.ts';
import { webhookChannel } from './webhook.ts';

/** The only list of alert channels, in alphabetical order. */
export const alertChannelDrivers = [
  chatWebhookChannel,
  discordChannel,
  emailChannel,
  fileChannel,
  incidentChannel,
  pagingChannel,
  teamsChannel,
  webhookChannel,
] as const;
