"""A model of CrewAI that follows a script: it calls `send` with a secret, then answers with an address."""

import os

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from crewai import BaseLLM


class Scripted(BaseLLM):
    def supports_function_calling(self):
        return False

    def call(self, messages, tools=None, callbacks=None, available_functions=None, from_agent=None, **options):
        # Models of other providers, which CrewAI calls itself, run the hooks in the same way.
        if not self._invoke_before_llm_call_hooks(messages, from_agent):
            raise ValueError("The prompt was blocked.")
        if any("Observation: " in str(each["content"]) for each in messages[2:]):
            text = "Thought: I know\nFinal Answer: I could not, write to jane.doe@corp-mail.io."
        else:
            text = 'Thought: I send it\nAction: send\nAction Input: {"key": "sk-ABCDEF1234567890"}'
        return self._invoke_after_llm_call_hooks(messages, text, from_agent)


model = Scripted(model="scripted")
