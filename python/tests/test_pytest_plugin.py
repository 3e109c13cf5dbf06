import pytest

from .conftest import ADDRESS, KEY


class TestOwnPolicy:
    @pytest.fixture
    def safety_policy(self):
        return {"policies": [{"name": "no-pay", "boundary": "action", "condition": {"tools": ["pay"]}, "action": "block"}]}

    def test_the_policy_is_used(self, safety_guard, assert_blocked):
        assert_blocked(safety_guard.tool("pay", {}), rule="no-pay")
        assert_blocked(lambda: safety_guard.protect.tool("pay", {}))
        assert safety_guard.tool("look_up", {}).decision == "allow"


def test_assertions_fail_where_they_should(safety_guard, assert_blocked, assert_redacted):
    masked = safety_guard.output(ADDRESS)
    assert assert_redacted(masked, "p4ssw0rd") == "DATABASE_URL=[REDACTED]"
    failing = [
        lambda: assert_blocked(safety_guard.input("Hello")),
        lambda: assert_blocked(lambda: None),
        lambda: assert_blocked(safety_guard.input(KEY), rule="other"),
        lambda: assert_redacted(safety_guard.output("Hello")),
        lambda: assert_redacted(masked, "DATABASE"),
        lambda: assert_redacted(masked, rule="other"),
    ]
    failed = 0
    for each in failing:
        with pytest.raises(AssertionError) as caught:
            each()
        assert KEY not in str(caught.value)
        failed += 1
    assert failed == 6
