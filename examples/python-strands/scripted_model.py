"""A model of Strands that follows a script: it calls `send` with a secret, then answers with an address."""

from strands.models import Model


class Scripted(Model):
    def update_config(self, **options):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **options):
        raise NotImplementedError

    async def stream(self, messages, *args, **options):
        has_result = any("toolResult" in part for each in messages for part in each["content"])
        yield {"messageStart": {"role": "assistant"}}
        if has_result:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "I could not, write to jane.doe@corp-mail.io."}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "send", "toolUseId": "1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"key": "sk-ABCDEF1234567890"}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if has_result else "tool_use"}}


model = Scripted()
