/** A model of LangGraph that follows a script: it calls `send` with a secret, then answers with an address. */
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';

export const model = Object.assign(new FakeListChatModel({ responses: [''] }), {
  bindTools: () => model,
  _generate: async (messages) => {
    const message = messages.some(({ type }) => type === 'tool')
      ? new AIMessage('I could not, write to jane.doe@corp-mail.io.')
      : new AIMessage({
          content: '',
          tool_calls: [{ id: '1', name: 'send', args: { key: 'sk-ABCDEF1234567890' } }],
        });
    return { generations: [{ text: message.text, message }] };
  },
});
