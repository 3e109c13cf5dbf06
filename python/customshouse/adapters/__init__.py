"""Adapters for agent frameworks. Each module needs its framework, and nothing imports it but you."""
