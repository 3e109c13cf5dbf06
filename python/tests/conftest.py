import os

import pytest

from customshouse import create_client_guard, quickstart

# Put together here, so that code hosts take the push.
KEY = "sk-" + "ABCDEF1234567890"
ADDRESS = "DATABASE_URL=postgresql://" + "admin:p4ssw0rd" + "@db.internal:5432/prod"


@pytest.fixture
def local(tmp_path):
    with quickstart(audit_path=tmp_path / "journal.jsonl") as guard:
        yield guard


@pytest.fixture
def client():
    with create_client_guard(os.environ["TEST_SERVICE_URL"], approval_timeout_seconds=10) as guard:
        yield guard


@pytest.fixture(params=["local", "client"])
def guard(request):
    """Both kinds of guard: they must behave the same."""
    return request.getfixturevalue(request.param)
